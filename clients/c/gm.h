/* A client of the gm protocol in C99 and POSIX: frames, sockets, and the little JSON that a bot needs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two files, gm.h and gm.c, to be copied into a project. They keep no state outside of the structs below, allocate
 * nothing (getaddrinfo does, while it runs), raise no signal, and write nothing anywhere but into sockets and the
 * caller's own memory.
 *
 * A function gives GM_OK, which is 0, or says what is wrong; gm_explain makes a sentence of that. Times are in
 * milliseconds; -1 is without limit. A signal that interrupts a call does not end it.
 */
#ifndef GM_H
#define GM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GM_DEFAULT_PORT "7100"

/* Longest reply taken, in bytes. The longest game's history is some 10 MB; a server of another protocol gives itself
 * away by its first four bytes: "HTTP" would be a length of 1.2 GB. */
#define GM_MAX_REPLY (64 << 20)

enum gm_status {
    GM_OK = 0,

    /* Of connections. All but GM_TOO_LONG, GM_REFUSED and GM_TIMEOUT of gm_receive close it. */
    GM_SYSTEM,    /* a system call failed: gm_connection.system_error is its errno */
    GM_NO_HOST,   /* the host's name was not found: gm_connection.host_error is for gai_strerror */
    GM_TIMEOUT,   /* the time was up */
    GM_CLOSED,    /* there is no connection, or the server has closed it */
    GM_BAD_REPLY, /* what came is no reply of a gm server */
    GM_TOO_LONG,  /* the caller's memory is too small; the length that is needed is given */
    GM_REFUSED,   /* the server refused the hello: its reply is in the caller's memory */

    /* Of JSON. */
    GM_BAD_JSON,   /* the text is not JSON */
    GM_NOT_FOUND,  /* there is no such member, or no further element */
    GM_WRONG_TYPE, /* the value is of another type, or out of range */
};

/* Connections. */

struct gm_connection {
    int fd;           /* -1: none. For poll and select; whoever reads or writes it by other means breaks it. */
    int system_error;
    int host_error;
    unsigned char header[4];
    size_t header_read;
    size_t body_length; /* of the reply that has begun, once its header is here */
    size_t body_read;
};

/* Makes a connection that is not connected. Every other function needs it to have been called. */
void gm_init(struct gm_connection *connection);

/* Connects, after closing what was. Every address of the host is tried, each for that time. NULL: 127.0.0.1, and
 * GM_DEFAULT_PORT. */
int gm_open(struct gm_connection *connection, const char *host, const char *port, int timeout_ms);

/* Takes over a stream socket that is connected by other means, say to a Unix socket. Sets O_NONBLOCK on it. */
int gm_attach(struct gm_connection *connection, int fd);

/* Closes the connection, if there is one. */
void gm_close(struct gm_connection *connection);

/* Sends one message, with its header. Several may be sent before the first reply is received; but not without bound,
 * for a server stops reading from who does not read. After GM_TIMEOUT the connection is closed: part of the message
 * may have left. */
int gm_send(struct gm_connection *connection, const char *json, size_t length, int timeout_ms);

/* Receives one message into the caller's memory, and a NUL behind it; `length` is without that.
 *
 * GM_TOO_LONG: `length + 1` bytes are needed; nothing is lost: call again with as many.
 * GM_TIMEOUT: nothing is lost: call again with the same memory, which may hold part of the message. */
int gm_receive(struct gm_connection *connection, char *reply, size_t size, size_t *length, int timeout_ms);

/* Sends a text and receives the reply to it; to be called when none is outstanding. `length` may be NULL. */
int gm_ask(struct gm_connection *connection, const char *request, char *reply, size_t size, size_t *length,
           int timeout_ms);

/* What a status means, as a sentence without a full stop. `connection` may be NULL. Returns `text`. */
char *gm_explain(const struct gm_connection *connection, int status, char *text, size_t size);

/* Sessions: a connection that is made anew when it is lost. */

struct gm_session {
    struct gm_connection connection;
    const char *host;  /* the caller's, and so are the next two */
    const char *port;
    const char *hello; /* the first request on each connection: with a registered player's name or id, and its key */
    int timeout_ms;    /* for connecting, and for each reply: more than the longest wait, which is a minute */
    int patience_ms;   /* for how long a lost connection is tried again: enough to restart a server */
};

/* A session with the times that suit most, 90 seconds and 60. Sets no `hello`'s player: write your own. */
void gm_session_init(struct gm_session *session, const char *host, const char *port, const char *hello);

/* Connects, and says hello, once. The reply to the hello is left in `reply`, with GM_REFUSED too. */
int gm_session_open(struct gm_session *session, char *reply, size_t size, size_t *length);

/* Sends a request and receives its reply, and does so again on a new connection where that one is lost, or the server
 * is stopping, until patience ends. It must therefore be safe to send twice: a "move", "sense" or "end_game" with
 * "ply", a "new_game", "challenge", "seek", "pair" or "register" with "token", a "join", "accept" or "decline", or a
 * request that changes nothing. A "rekey" takes a session whose hello names nobody, since a hello with the old key may be refused
 * already, and in the request "player", "key" and "token".
 *
 * GM_TOO_LONG: as with gm_receive, which is to be called then, for session->connection.
 * GM_REFUSED: a hello was refused; `reply` has that reply. */
int gm_session_ask(struct gm_session *session, const char *request, char *reply, size_t size, size_t *length);

void gm_session_close(struct gm_session *session);

/* JSON. A value is where it stands in a text that the caller keeps; nothing is copied before it is asked for. */

struct gm_json {
    const char *start;
    size_t length;
};

/* The value in a text, which must be JSON from its first byte to its last (white space and NULs behind it may stand
 * around it) and nested no deeper than 64 arrays and objects. Whether it is UTF-8 is not looked at. */
int gm_json_parse(const char *text, size_t length, struct gm_json *value);

/* The functions below take a value that gm_json_parse gave, or that they gave themselves. */

/* A member of an object, or a member of that: "state.ply_index". Of duplicates it is the last, as everywhere in the
 * protocol. Names with a dot cannot be found. */
int gm_json_find(struct gm_json object, const char *path, struct gm_json *value);

/* The elements of an array: `rest` is the array at first, and what gm_json_next makes of it then.
 *
 *     while (gm_json_next(&rest, &element) == GM_OK) ...
 */
int gm_json_next(struct gm_json *rest, struct gm_json *element);

/* The number of elements of an array, and one of them. */
int gm_json_count(struct gm_json array, size_t *count);
int gm_json_at(struct gm_json array, size_t index, struct gm_json *element);

/* An integer, written without fraction and exponent. */
int gm_json_integer(struct gm_json value, int64_t *integer);

/* A string, in UTF-8 and with a NUL behind it. What cannot be in one (a NUL, half a surrogate pair) becomes U+FFFD.
 * GM_TOO_LONG: `length + 1` bytes are needed. `length` may be NULL. */
int gm_json_string(struct gm_json value, char *text, size_t size, size_t *length);

/* Whether a value is a string and that one, which must be without NUL. */
int gm_json_equals(struct gm_json value, const char *text);

int gm_json_is_null(struct gm_json value);
int gm_json_is_true(struct gm_json value);

/* Writes a text as a JSON string, quotes included, and a NUL behind it. Returns the length it has or would have
 * without the NUL, as snprintf does: where that is not less than `size`, `json` holds nothing. */
size_t gm_json_quote(char *json, size_t size, const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
