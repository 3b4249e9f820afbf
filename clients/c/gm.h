/* A client of the gm protocol in C99 and POSIX: frames, sockets, and the part of JSON that a bot needs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Copy the two files gm.h and gm.c into a project. They keep no state outside the structs below, allocate nothing
 * (getaddrinfo does, while it runs), raise no signal, and write only to sockets and to the caller's memory.
 *
 * A function returns GM_OK, which is 0, or another status; gm_explain turns that into a sentence. Times are in
 * milliseconds; -1 means without limit. A signal that interrupts a call does not end it.
 */
#ifndef GM_H
#define GM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GM_DEFAULT_PORT "7100"

/* The largest reply accepted, in bytes. The longest game's history is some 10 MB. A server of another protocol is
 * recognised by its first four bytes: "HTTP" would be a length of 1.2 GB. */
#define GM_MAX_REPLY (64 << 20)

enum gm_status {
    GM_OK = 0,

    /* Of connections. All except GM_TOO_LONG, GM_REFUSED and GM_TIMEOUT of gm_receive close the connection. */
    GM_SYSTEM,    /* a system call failed: gm_connection.system_error is its errno */
    GM_NO_HOST,   /* the host's name was not found: pass gm_connection.host_error to gai_strerror */
    GM_TIMEOUT,   /* the time ran out */
    GM_CLOSED,    /* there is no connection, or the server has closed it */
    GM_BAD_REPLY, /* the data received is not a reply of a gm server */
    GM_TOO_LONG,  /* the caller's buffer is too small; the required length is returned */
    GM_REFUSED,   /* the server refused the hello: its reply is in the caller's buffer */
    GM_BAD_ADDRESS, /* a session's host is not a host or a list: gm_connection.bad_address begins with what is wrong */

    /* Of JSON. */
    GM_BAD_JSON,   /* the text is not JSON */
    GM_NOT_FOUND,  /* there is no such member, or no further element */
    GM_WRONG_TYPE, /* the value has another type, or is out of range */
};

/* Connections. */

struct gm_connection {
    int fd;           /* -1: none. Use it only for poll and select; do not read or write it directly. */
    int system_error;
    int host_error;
    const char *bad_address; /* in gm_session.host */
    unsigned char header[4];
    size_t header_read;
    size_t body_length; /* of the current reply, once its header has arrived */
    size_t body_read;
};

/* Initialises a connection, which is not connected yet. Call this before any other function. */
void gm_init(struct gm_connection *connection);

/* Connects, after closing an earlier connection. Tries every address of the host, each for the given time. NULL means
 * 127.0.0.1, or GM_DEFAULT_PORT. */
int gm_open(struct gm_connection *connection, const char *host, const char *port, int timeout_ms);

/* Takes over a connected stream socket, for example a Unix socket. Sets O_NONBLOCK on it. */
int gm_attach(struct gm_connection *connection, int fd);

/* Closes the connection, if there is one. */
void gm_close(struct gm_connection *connection);

/* Sends one message with its header. Several may be sent before the first reply is received, but not without limit: a
 * server stops reading from a client that does not read. After GM_TIMEOUT the connection is closed, since part of the
 * message may have been sent. */
int gm_send(struct gm_connection *connection, const char *json, size_t length, int timeout_ms);

/* Receives one message into the caller's buffer, followed by a NUL; `length` does not count the NUL.
 *
 * GM_TOO_LONG: the buffer needs `length + 1` bytes; nothing is lost: call again with as many.
 * GM_TIMEOUT: nothing is lost: call again with the same buffer, which may hold part of the message. */
int gm_receive(struct gm_connection *connection, char *reply, size_t size, size_t *length, int timeout_ms);

/* Sends a text and receives the reply to it. Call it when no other reply is outstanding. `length` may be NULL. */
int gm_ask(struct gm_connection *connection, const char *request, char *reply, size_t size, size_t *length,
           int timeout_ms);

/* Writes the meaning of a status as a sentence without a full stop. `connection` may be NULL. Returns `text`. */
char *gm_explain(const struct gm_connection *connection, int status, char *text, size_t size);

/* Sessions: connections that are made again when lost. */

struct gm_session {
    struct gm_connection connection;
    const char *host;  /* the caller's, and so are the next two; a list of servers as in "a:7100,[::1]:7101,c" is tried
                        * in turn, from the one that answered last */
    const char *port;  /* of servers without one */
    const char *hello; /* the first request on each connection, with a registered player's name or id and its key */
    size_t answered;   /* the number of the server that answered last, from 0 */
    int answer_ms;     /* for connecting, and for the reply to the hello, at each of several servers */
    int timeout_ms;    /* for connecting, and for each reply; longer than the longest wait, which is a minute */
    int patience_ms;   /* for retries after a lost connection: enough to restart a server */
};

/* Initialises a session with times that suit most bots: 5, 90 and 60 seconds. It sets no player in `hello`: write
 * your own. */
void gm_session_init(struct gm_session *session, const char *host, const char *port, const char *hello);

/* Connects and says hello, in one attempt at each server. `reply` receives the reply to the hello, also with GM_REFUSED. */
int gm_session_open(struct gm_session *session, char *reply, size_t size, size_t *length);

/* Sends a request and receives its reply. If the connection is lost, or the server is stopping, it does so again on a
 * new connection, until the patience ends. So the request must be safe to send twice: a "move", "sense" or "end_game"
 * with "ply"; a "new_game", "challenge", "seek", "pair" or "register" with "token"; a "join", "accept" or "decline"; or
 * a request that changes nothing. A "rekey" needs "player", "key" and "token", in a session whose hello names nobody,
 * since a hello with the old key may be refused already.
 *
 * GM_TOO_LONG: as for gm_receive; call that next, with session->connection.
 * GM_REFUSED: a hello was refused; `reply` has the reply to it. */
int gm_session_ask(struct gm_session *session, const char *request, char *reply, size_t size, size_t *length);

void gm_session_close(struct gm_session *session);

/* JSON. A value points into a text that the caller keeps; nothing is copied before it is requested. */

struct gm_json {
    const char *start;
    size_t length;
};

/* Parses the value in a text, which must be JSON from its first byte to its last (white space around it and NULs after
 * it are allowed), nested at most 64 arrays and objects deep. UTF-8 is not checked. */
int gm_json_parse(const char *text, size_t length, struct gm_json *value);

/* The functions below take a value from gm_json_parse, or from one of themselves. */

/* Finds a member of an object, or a member of a member: "state.ply_index". Of duplicates it takes the last, as the
 * protocol does everywhere. Names with a dot cannot be found. */
int gm_json_find(struct gm_json object, const char *path, struct gm_json *value);

/* Iterates over an array: `rest` is the array at first, and then what gm_json_next leaves in it.
 *
 *     while (gm_json_next(&rest, &element) == GM_OK) ...
 */
int gm_json_next(struct gm_json *rest, struct gm_json *element);

/* The number of elements of an array, and one of its elements. */
int gm_json_count(struct gm_json array, size_t *count);
int gm_json_at(struct gm_json array, size_t index, struct gm_json *element);

/* An integer, written without fraction or exponent. */
int gm_json_integer(struct gm_json value, int64_t *integer);

/* A string, in UTF-8 and followed by a NUL. A character that it cannot hold (a NUL, half a surrogate pair) becomes
 * U+FFFD. GM_TOO_LONG: the buffer needs `length + 1` bytes. `length` may be NULL. */
int gm_json_string(struct gm_json value, char *text, size_t size, size_t *length);

/* Whether a value is a string equal to the text, which must not contain a NUL. */
int gm_json_equals(struct gm_json value, const char *text);

int gm_json_is_null(struct gm_json value);
int gm_json_is_true(struct gm_json value);

/* Writes a text as a JSON string with quotes, followed by a NUL. Returns its length without the NUL, as snprintf does:
 * if that is not less than `size`, `json` holds nothing. */
size_t gm_json_quote(char *json, size_t size, const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
