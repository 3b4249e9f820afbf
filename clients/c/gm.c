/* See gm.h. SPDX-License-Identifier: GPL-3.0-or-later */

#undef _GNU_SOURCE /* it has another strerror_r */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE /* for SO_NOSIGPIPE */
#endif

#include "gm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* such systems have SO_NOSIGPIPE */
#endif

/* The deepest nesting of arrays and objects. The protocol's own is six deep (a square's list in access_map). */
#define MAX_DEPTH 64

/* Milliseconds between two attempts of a session, at first and at most. */
#define FIRST_PAUSE 50
#define LONGEST_PAUSE 2000

/* The longest host of a session. */
#define LONGEST_HOST 255

/* The longest reply that is checked for a refusal to be repeated: no such reply is longer, and few others are as short. */
#define LONGEST_PASSING 1024

/* ------------------------------------------------------------------------------------------------- Connections */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The time when a timeout ends; -1 is never. */
static int64_t deadline_after(int timeout_ms)
{
    return timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
}

static int left_until(int64_t deadline)
{
    if (deadline < 0)
        return -1;
    int64_t left = deadline - now_ms();
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* Closes after an error, which errno or a status tells. */
static int fail(struct gm_connection *connection, int status)
{
    int error = errno;
    gm_close(connection);
    connection->system_error = error;
    return status;
}

/* Waits until the socket can be read or written. Does not close it. */
static int wait_for(int fd, short events, int64_t deadline)
{
    for (;;) {
        struct pollfd one = {fd, events, 0};
        int ready = poll(&one, 1, left_until(deadline));
        if (ready > 0)
            return GM_OK;
        if (ready == 0)
            return GM_TIMEOUT;
        if (errno != EINTR)
            return GM_SYSTEM;
    }
}

static int would_block(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK;
}

static int prepare(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        return GM_SYSTEM;
#ifdef SO_NOSIGPIPE
    int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) < 0)
        return GM_SYSTEM;
#endif
    return GM_OK;
}

/* These options are not essential. By all but the first, a connection ends some ten seconds after the server's machine
 * has lost its power or was cut off. */
static void set_options(int fd)
{
    static const int options[][3] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
#ifdef TCP_KEEPIDLE
        {IPPROTO_TCP, TCP_KEEPIDLE, 5},
#elif defined TCP_KEEPALIVE /* its name on macOS */
        {IPPROTO_TCP, TCP_KEEPALIVE, 5},
#endif
#if defined TCP_KEEPINTVL && defined TCP_KEEPCNT
        {IPPROTO_TCP, TCP_KEEPINTVL, 2},
        {IPPROTO_TCP, TCP_KEEPCNT, 3},
#endif
#ifdef TCP_USER_TIMEOUT
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 10 * 1000},
#endif
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i][0], options[i][1], &options[i][2], sizeof options[i][2]);
}

static int connect_to(struct gm_connection *connection, const struct addrinfo *address, int timeout_ms)
{
    int64_t deadline = deadline_after(timeout_ms);
    int fd = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
    if (fd < 0)
        return fail(connection, GM_SYSTEM);
    int status = gm_attach(connection, fd);
    if (status != GM_OK)
        return status;
    int error = 0;
    if (connect(fd, address->ai_addr, address->ai_addrlen) < 0) {
        if (errno != EINPROGRESS && errno != EINTR)
            return fail(connection, GM_SYSTEM);
        status = wait_for(fd, POLLOUT, deadline);
        if (status != GM_OK)
            return fail(connection, status);
        socklen_t size = sizeof error;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
            return fail(connection, GM_SYSTEM);
    }
    if (error != 0) {
        errno = error;
        return fail(connection, GM_SYSTEM);
    }
    set_options(fd);
    return GM_OK;
}

void gm_init(struct gm_connection *connection)
{
    memset(connection, 0, sizeof *connection);
    connection->fd = -1;
}

int gm_open(struct gm_connection *connection, const char *host, const char *port, int timeout_ms)
{
    gm_close(connection);
    connection->system_error = connection->host_error = 0;
    struct addrinfo hints, *addresses = NULL;
    memset(&hints, 0, sizeof hints);
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    int error = getaddrinfo(host ? host : "127.0.0.1", port ? port : GM_DEFAULT_PORT, &hints, &addresses);
    if (error == EAI_SYSTEM)
        return fail(connection, GM_SYSTEM);
    connection->host_error = error;
    if (error != 0)
        return GM_NO_HOST;
    int status = GM_NO_HOST;
    for (const struct addrinfo *address = addresses; address && status != GM_OK; address = address->ai_next)
        status = connect_to(connection, address, timeout_ms);
    freeaddrinfo(addresses);
    return status;
}

int gm_attach(struct gm_connection *connection, int fd)
{
    gm_close(connection);
    connection->fd = fd;
    return prepare(fd) == GM_OK ? GM_OK : fail(connection, GM_SYSTEM);
}

void gm_close(struct gm_connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd); /* after EINTR the descriptor is closed, and may be reused: do not retry */
    connection->fd = -1;
    connection->header_read = connection->body_length = connection->body_read = 0;
}

/* Removes the first bytes of the data that remains to be written. */
static void advance(struct iovec **part, size_t *parts, size_t written)
{
    while (*parts > 0 && written >= (*part)->iov_len) {
        written -= (*part)->iov_len;
        (*part)++;
        (*parts)--;
    }
    if (*parts > 0) {
        (*part)->iov_base = (char *)(*part)->iov_base + written;
        (*part)->iov_len -= written;
    }
}

int gm_send(struct gm_connection *connection, const char *json, size_t length, int timeout_ms)
{
    if (connection->fd < 0)
        return GM_CLOSED;
    if (length > INT32_MAX)
        return GM_TOO_LONG;
    int64_t deadline = deadline_after(timeout_ms);
    unsigned char header[4] = {(unsigned char)(length >> 24), (unsigned char)(length >> 16),
                               (unsigned char)(length >> 8), (unsigned char)length};
    struct iovec both[2] = {{header, sizeof header}, {(char *)json, length}}; /* sendmsg does not write to it */
    struct iovec *part = both;
    size_t parts = 2;
    while (parts > 0) {
        struct msghdr message;
        memset(&message, 0, sizeof message);
        message.msg_iov = part;
        message.msg_iovlen = parts;
        ssize_t written = sendmsg(connection->fd, &message, MSG_NOSIGNAL);
        if (written >= 0) {
            advance(&part, &parts, (size_t)written);
        } else if (would_block(errno)) {
            int status = wait_for(connection->fd, POLLOUT, deadline);
            if (status != GM_OK)
                return fail(connection, status);
        } else if (errno != EINTR) {
            return fail(connection, GM_SYSTEM);
        }
    }
    return GM_OK;
}

/* Reads on until `wanted` bytes have arrived, of which there are `*got` already. */
static int fill(struct gm_connection *connection, void *memory, size_t wanted, size_t *got, int64_t deadline)
{
    while (*got < wanted) {
        ssize_t count = recv(connection->fd, (char *)memory + *got, wanted - *got, 0);
        if (count > 0) {
            *got += (size_t)count;
        } else if (count == 0) {
            return fail(connection, GM_CLOSED);
        } else if (would_block(errno)) {
            int status = wait_for(connection->fd, POLLIN, deadline);
            if (status == GM_TIMEOUT)
                return status;
            if (status != GM_OK)
                return fail(connection, status);
        } else if (errno != EINTR) {
            return fail(connection, GM_SYSTEM);
        }
    }
    return GM_OK;
}

int gm_receive(struct gm_connection *connection, char *reply, size_t size, size_t *length, int timeout_ms)
{
    *length = 0;
    if (connection->fd < 0)
        return GM_CLOSED;
    int64_t deadline = deadline_after(timeout_ms);
    unsigned char *header = connection->header;
    if (connection->header_read < sizeof connection->header) {
        int status = fill(connection, header, sizeof connection->header, &connection->header_read, deadline);
        if (status != GM_OK)
            return status;
        connection->body_length = (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
        if (connection->body_length == 0 || connection->body_length > GM_MAX_REPLY)
            return fail(connection, GM_BAD_REPLY);
    }
    *length = connection->body_length;
    if (size <= *length)
        return GM_TOO_LONG;
    int status = fill(connection, reply, *length, &connection->body_read, deadline);
    if (status != GM_OK)
        return status;
    reply[*length] = '\0';
    connection->header_read = connection->body_length = connection->body_read = 0;
    return GM_OK;
}

int gm_ask(struct gm_connection *connection, const char *request, char *reply, size_t size, size_t *length,
           int timeout_ms)
{
    size_t unasked;
    length = length ? length : &unasked;
    *length = 0;
    int64_t deadline = deadline_after(timeout_ms);
    int status = gm_send(connection, request, strlen(request), timeout_ms);
    if (status != GM_OK)
        return status;
    return gm_receive(connection, reply, size, length, left_until(deadline));
}

static const char *meaning(int status)
{
    switch (status) {
    case GM_OK: return "no error";
    case GM_SYSTEM: return "a system call failed";
    case GM_NO_HOST: return "the host was not found";
    case GM_TIMEOUT: return "the time ran out";
    case GM_CLOSED: return "the server has closed the connection, or there is none";
    case GM_BAD_REPLY: return "the data received is not a reply of a gm server";
    case GM_TOO_LONG: return "the message is too long for the buffer";
    case GM_REFUSED: return "the server refused the hello";
    case GM_BAD_ADDRESS: return "an address is not HOST:PORT, with a port from 1 to 65535";
    case GM_BAD_JSON: return "the text is not JSON";
    case GM_NOT_FOUND: return "there is no such member or element";
    case GM_WRONG_TYPE: return "the value has another type or is out of range";
    default: return "an unknown status";
    }
}

char *gm_explain(const struct gm_connection *connection, int status, char *text, size_t size)
{
    char reason[128] = "";
    if (connection && status == GM_SYSTEM)
        strerror_r(connection->system_error, reason, sizeof reason);
    else if (connection && status == GM_NO_HOST)
        snprintf(reason, sizeof reason, "%s", gai_strerror(connection->host_error));
    else if (connection && status == GM_BAD_ADDRESS)
        snprintf(reason, sizeof reason, "'%.*s'", (int)strcspn(connection->bad_address, ","), connection->bad_address);
    snprintf(text, size, "%s%s%s", meaning(status), *reason ? ": " : "", reason);
    return text;
}

/* ---------------------------------------------------------------------------------------------------- Sessions */

void gm_session_init(struct gm_session *session, const char *host, const char *port, const char *hello)
{
    gm_init(&session->connection);
    session->host = host;
    session->port = port;
    session->hello = hello;
    session->answered = 0;
    session->answer_ms = 5 * 1000;
    session->timeout_ms = 90 * 1000;
    session->patience_ms = 60 * 1000;
}

/* Whether a reply has this code. */
static int has_code(const char *reply, size_t length, const char *code)
{
    struct gm_json value, found;
    return gm_json_parse(reply, length, &value) == GM_OK && gm_json_find(value, "code", &found) == GM_OK &&
           gm_json_equals(found, code);
}

/* Whether a reply says that the server is stopping, or cannot reach its database now. */
static int is_out_of_service(const char *reply, size_t length)
{
    struct gm_json value, found;
    if (has_code(reply, length, "internal"))
        return gm_json_parse(reply, length, &value) == GM_OK && gm_json_find(value, "retry_after", &found) == GM_OK;
    return has_code(reply, length, "shutting_down");
}

/* Whether a retry may help. */
static int is_passing(int status, const char *reply, size_t length)
{
    if (status == GM_REFUSED)
        return has_code(reply, length, "too_many") || is_out_of_service(reply, length);
    return status == GM_SYSTEM || status == GM_NO_HOST || status == GM_TIMEOUT || status == GM_CLOSED;
}

struct address {
    char host[LONGEST_HOST + 1];
    char port[6]; /* empty: the session's */
};

/* Reads the first address of a list. Returns its end, where there is a comma or a NUL; NULL if it is no address. */
static const char *read_address(const char *list, struct address *address)
{
    int bracket = *list == '[';
    const char *host = list + bracket;
    size_t length = strcspn(host, bracket ? "[], " : "[]:, "), digits = 0;
    const char *end = host + length;
    if (length > LONGEST_HOST || (bracket && (length == 0 || *end++ != ']')))
        return NULL;
    if (*end == ':' && ((digits = strspn(++end, "0123456789")) == 0 || digits >= sizeof address->port))
        return NULL;
    snprintf(address->host, sizeof address->host, "%.*s", length ? (int)length : 9, length ? host : "127.0.0.1");
    snprintf(address->port, sizeof address->port, "%.*s", (int)digits, end);
    end += digits;
    if ((*end != ',' && *end != '\0') || (digits ? atoi(address->port) < 1 || atoi(address->port) > 65535 : length == 0))
        return NULL;
    return end;
}

/* Connects to one server and says hello. */
static int open_at(struct gm_session *session, const char *host, const char *port, int timeout_ms, char *reply,
                   size_t size, size_t *length)
{
    struct gm_connection *connection = &session->connection;
    *length = 0;
    int status = gm_open(connection, host, port, timeout_ms);
    if (status == GM_OK)
        status = gm_ask(connection, session->hello, reply, size, length, timeout_ms);
    struct gm_json value, error;
    if (status == GM_OK) {
        if (gm_json_parse(reply, *length, &value) != GM_OK || gm_json_find(value, "error", &error) != GM_OK)
            status = GM_BAD_REPLY;
        else if (!gm_json_is_null(error))
            status = GM_REFUSED;
    }
    if (status != GM_OK)
        gm_close(connection);
    return status;
}

int gm_session_open(struct gm_session *session, char *reply, size_t size, size_t *length)
{
    struct address address;
    size_t unasked, count = 0;
    length = length ? length : &unasked;
    const char *list = session->host ? session->host : "127.0.0.1", *next = list;
    if (strchr(list, ':') != strrchr(list, ':') && !strpbrk(list, "[,")) /* one IPv6 address */
        return open_at(session, list, session->port, session->timeout_ms, reply, size, length);
    for (; count == 0 || *next++ == ','; count++) {
        session->connection.bad_address = next;
        next = read_address(next, &address);
        if (!next)
            return fail(&session->connection, GM_BAD_ADDRESS);
    }
    int status = GM_OK, timeout_ms = count > 1 ? session->answer_ms : session->timeout_ms;
    for (size_t i = 0; i < count && (i == 0 || is_passing(status, reply, *length)); i++) {
        size_t number = (session->answered + i) % count;
        next = read_address(list, &address);
        for (size_t before = 0; before < number; before++)
            next = read_address(next + 1, &address);
        const char *port = *address.port ? address.port : session->port;
        status = open_at(session, address.host, port, timeout_ms, reply, size, length);
        if (status == GM_OK)
            session->answered = number;
    }
    return status;
}

/* One attempt. GM_CLOSED also if the server ended the session instead of answering. */
static int ask_once(struct gm_session *session, const char *request, char *reply, size_t size, size_t *length)
{
    struct gm_connection *connection = &session->connection;
    if (connection->fd < 0) {
        int status = gm_session_open(session, reply, size, length);
        if (status != GM_OK)
            return status;
    }
    int status = gm_ask(connection, request, reply, size, length, session->timeout_ms);
    if (status == GM_OK && *length <= LONGEST_PASSING && is_out_of_service(reply, *length))
        status = GM_CLOSED;
    if (status == GM_TIMEOUT || status == GM_CLOSED)
        gm_close(connection); /* otherwise a late reply could be taken for another request's */
    return status;
}

static void pause_for(int milliseconds)
{
    int64_t deadline = deadline_after(milliseconds);
    while (poll(NULL, 0, left_until(deadline)) < 0 && errno == EINTR)
        ;
}

int gm_session_ask(struct gm_session *session, const char *request, char *reply, size_t size, size_t *length)
{
    size_t unasked;
    length = length ? length : &unasked;
    *length = 0;
    int64_t deadline = deadline_after(session->patience_ms);
    for (int pause = 0;; pause = pause == 0 ? FIRST_PAUSE : pause < LONGEST_PAUSE / 2 ? pause * 2 : LONGEST_PAUSE) {
        int status = ask_once(session, request, reply, size, length);
        if (status == GM_OK || !is_passing(status, reply, *length))
            return status;
        if (deadline >= 0 && now_ms() + pause > deadline)
            return status;
        pause_for(pause - (int)((now_ms() + getpid()) % (pause / 2 + 1))); /* not all clients at once */
    }
}

void gm_session_close(struct gm_session *session)
{
    gm_close(&session->connection);
}

/* -------------------------------------------------------------------------------------------------------- JSON */

/* The skip functions return the end of the item that begins at p, or NULL if there is no such item or no end. */

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

/* The number written as four digits at p, or -1. */
static int32_t hex4(const char *p, const char *end)
{
    if (end - p < 4)
        return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(p[i]);
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static const char *skip_string(const char *p, const char *end)
{
    if (p == end || *p++ != '"')
        return NULL;
    while (p < end && *p != '"') {
        if ((unsigned char)*p < 0x20)
            return NULL;
        if (*p++ != '\\')
            continue;
        if (p == end || !*p || !strchr("\"\\/bfnrtu", *p))
            return NULL;
        if (*p++ == 'u') {
            if (hex4(p, end) < 0)
                return NULL;
            p += 4;
        }
    }
    return p < end ? p + 1 : NULL;
}

static const char *skip_digits(const char *p, const char *end)
{
    const char *start = p;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p > start ? p : NULL;
}

static const char *skip_number(const char *p, const char *end)
{
    if (p < end && *p == '-')
        p++;
    if (p < end && *p == '0')
        p++;
    else if (!(p = skip_digits(p, end)))
        return NULL;
    if (p < end && *p == '.' && !(p = skip_digits(p + 1, end)))
        return NULL;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        p = skip_digits(p, end);
    }
    return p;
}

static const char *skip_word(const char *p, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - p) >= length && memcmp(p, word, length) == 0 ? p + length : NULL;
}

static const char *skip_scalar(const char *p, const char *end)
{
    if (p == end)
        return NULL;
    switch (*p) {
    case '"': return skip_string(p, end);
    case 'n': return skip_word(p, end, "null");
    case 't': return skip_word(p, end, "true");
    case 'f': return skip_word(p, end, "false");
    default: return skip_number(p, end);
    }
}

/* A member's name, its colon, and the white space around them. */
static const char *skip_name(const char *p, const char *end)
{
    p = skip_string(skip_space(p, end), end);
    if (!p)
        return NULL;
    p = skip_space(p, end);
    return p < end && *p == ':' ? skip_space(p + 1, end) : NULL;
}

/* Any value. It works without recursion, so that no text can overflow the stack: the bits of a number stand for the
 * enclosing arrays and objects, the innermost the lowest, 1 for an object. */
static const char *skip_value(const char *p, const char *end)
{
    uint64_t objects = 0;
    int depth = 0;
    for (;;) {
        if (p < end && (*p == '[' || *p == '{')) {
            int is_object = *p == '{';
            if (depth++ == MAX_DEPTH)
                return NULL;
            objects = objects << 1 | (uint64_t)is_object;
            p = skip_space(p + 1, end);
            if (p < end && *p != (is_object ? '}' : ']')) {
                p = is_object ? skip_name(p, end) : p;
                if (!p)
                    return NULL;
                continue;
            }
        } else if (!(p = skip_scalar(p, end))) {
            return NULL;
        }
        for (;; p++, depth--, objects >>= 1) { /* a value has ended: leave the arrays and objects that end with it */
            if (depth == 0)
                return p;
            p = skip_space(p, end);
            if (p == end)
                return NULL;
            if (*p != (objects & 1 ? '}' : ']'))
                break;
        }
        if (*p != ',')
            return NULL;
        p = objects & 1 ? skip_name(p + 1, end) : skip_space(p + 1, end);
        if (!p)
            return NULL;
    }
}

/* The text from p to its end, as a value. */
static struct gm_json slice(const char *p, const char *end)
{
    struct gm_json value = {p, (size_t)(end - p)};
    return value;
}

static char first(struct gm_json value)
{
    return value.length > 0 ? value.start[0] : '\0';
}

int gm_json_parse(const char *text, size_t length, struct gm_json *value)
{
    const char *end = text + length;
    while (end > text && end[-1] == '\0')
        end--;
    const char *start = skip_space(text, end);
    const char *after = skip_value(start, end);
    if (!after || skip_space(after, end) != end)
        return GM_BAD_JSON;
    *value = slice(start, after);
    return GM_OK;
}

/* Writes a character as UTF-8; returns the number of bytes. */
static size_t write_utf8(uint32_t character, char bytes[4])
{
    if (character < 0x80) {
        bytes[0] = (char)character;
        return 1;
    }
    size_t count = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; i--, character >>= 6)
        bytes[i] = (char)(0x80 | (character & 0x3f));
    bytes[0] = (char)((0xf00 >> count & 0xff) | character);
    return count;
}

/* The character written as four digits at *p, combined with the other half of a surrogate pair if there is one. */
static uint32_t unescape_unicode(const char **p, const char *end)
{
    int32_t high = hex4(*p, end);
    if (high < 0)
        return 0xfffd;
    *p += 4;
    if (high == 0 || (high >= 0xdc00 && high <= 0xdfff))
        return 0xfffd;
    if (high < 0xd800 || high > 0xdbff)
        return (uint32_t)high;
    int32_t low = end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u' ? hex4(*p + 2, end) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return 0xfffd;
    *p += 6;
    return 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
}

/* Decodes the character at *p inside a string, and moves past it; returns the number of bytes. */
static size_t next_bytes(const char **p, const char *end, char bytes[4])
{
    bytes[0] = *(*p)++;
    if (bytes[0] != '\\' || *p == end)
        return 1;
    char escape = *(*p)++;
    switch (escape) {
    case 'b': bytes[0] = '\b'; return 1;
    case 'f': bytes[0] = '\f'; return 1;
    case 'n': bytes[0] = '\n'; return 1;
    case 'r': bytes[0] = '\r'; return 1;
    case 't': bytes[0] = '\t'; return 1;
    case 'u': return write_utf8(unescape_unicode(p, end), bytes);
    default: bytes[0] = escape; return 1;
    }
}

/* Whether a string with quotes decodes to these bytes. */
static int stands_for(struct gm_json string, const char *text, size_t length)
{
    const char *p = string.start + 1, *end = string.start + string.length - 1;
    while (p < end) {
        char bytes[4];
        size_t count = next_bytes(&p, end, bytes);
        if (count > length || memcmp(bytes, text, count) != 0)
            return 0;
        text += count;
        length -= count;
    }
    return length == 0;
}

static int is_string(struct gm_json value)
{
    return value.length >= 2 && first(value) == '"';
}

static int find_member(struct gm_json object, const char *name, size_t length, struct gm_json *value)
{
    if (first(object) != '{')
        return GM_WRONG_TYPE;
    int status = GM_NOT_FOUND;
    const char *end = object.start + object.length;
    const char *p = skip_space(object.start + 1, end);
    while (p < end && *p != '}') {
        p = skip_space(*p == ',' ? p + 1 : p, end);
        const char *name_end = skip_string(p, end);
        const char *start = skip_name(p, end);
        const char *after = start ? skip_value(start, end) : NULL;
        if (!after)
            return GM_BAD_JSON;
        if (stands_for(slice(p, name_end), name, length)) {
            *value = slice(start, after);
            status = GM_OK;
        }
        p = skip_space(after, end);
    }
    return status;
}

int gm_json_find(struct gm_json object, const char *path, struct gm_json *value)
{
    for (;;) {
        size_t length = strcspn(path, ".");
        struct gm_json found;
        int status = find_member(object, path, length, &found);
        if (status != GM_OK)
            return status;
        if (path[length] == '\0') {
            *value = found;
            return GM_OK;
        }
        object = found;
        path += length + 1;
    }
}

int gm_json_next(struct gm_json *rest, struct gm_json *element)
{
    const char *end = rest->start + rest->length;
    if (first(*rest) == ']')
        return GM_NOT_FOUND;
    if (first(*rest) != '[' && first(*rest) != ',')
        return GM_WRONG_TYPE;
    const char *p = skip_space(rest->start + 1, end);
    if (p < end && *p == ']') {
        *rest = slice(p, end);
        return GM_NOT_FOUND;
    }
    const char *after = skip_value(p, end);
    if (!after)
        return GM_BAD_JSON;
    *element = slice(p, after);
    *rest = slice(skip_space(after, end), end);
    return GM_OK;
}

int gm_json_count(struct gm_json array, size_t *count)
{
    struct gm_json element;
    int status;
    for (*count = 0; (status = gm_json_next(&array, &element)) == GM_OK; ++*count)
        ;
    return status == GM_NOT_FOUND ? GM_OK : status;
}

int gm_json_at(struct gm_json array, size_t index, struct gm_json *element)
{
    for (;; index--) {
        int status = gm_json_next(&array, element);
        if (status != GM_OK || index == 0)
            return status;
    }
}

int gm_json_integer(struct gm_json value, int64_t *integer)
{
    const char *p = value.start, *end = p + value.length;
    int negative = first(value) == '-';
    uint64_t limit = (uint64_t)INT64_MAX + (uint64_t)negative, sum = 0;
    p += negative;
    if (p == end)
        return GM_WRONG_TYPE;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9')
            return GM_WRONG_TYPE;
        uint64_t digit = (uint64_t)(*p - '0');
        if (sum > (limit - digit) / 10)
            return GM_WRONG_TYPE;
        sum = sum * 10 + digit;
    }
    *integer = negative && sum > 0 ? -(int64_t)(sum - 1) - 1 : (int64_t)sum;
    return GM_OK;
}

int gm_json_string(struct gm_json value, char *text, size_t size, size_t *length)
{
    if (!is_string(value))
        return GM_WRONG_TYPE;
    size_t needed = 0;
    const char *p = value.start + 1, *end = value.start + value.length - 1;
    while (p < end) {
        char bytes[4];
        size_t count = next_bytes(&p, end, bytes);
        if (needed + count < size)
            memcpy(text + needed, bytes, count);
        needed += count;
    }
    if (length)
        *length = needed;
    if (size > 0)
        text[needed < size ? needed : 0] = '\0';
    return needed < size ? GM_OK : GM_TOO_LONG;
}

int gm_json_equals(struct gm_json value, const char *text)
{
    return is_string(value) && stands_for(value, text, strlen(text));
}

int gm_json_is_null(struct gm_json value)
{
    return value.length == 4 && memcmp(value.start, "null", 4) == 0;
}

int gm_json_is_true(struct gm_json value)
{
    return value.length == 4 && memcmp(value.start, "true", 4) == 0;
}

/* The form of a byte inside a string; returns the number of characters, at most six. */
static size_t escape(char byte, char written[7])
{
    static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: the byte, its letter */
    for (const char *pair = shorts; *pair; pair += 2) {
        if (byte == *pair) {
            written[0] = '\\';
            written[1] = pair[1];
            return 2;
        }
    }
    if ((unsigned char)byte < 0x20)
        return (size_t)snprintf(written, 7, "\\u%04x", (unsigned)byte);
    written[0] = byte;
    return 1;
}

size_t gm_json_quote(char *json, size_t size, const char *text, size_t length)
{
    size_t needed = 0;
    for (size_t i = 0; i < length + 2; i++) {
        char written[7] = "\"";
        size_t count = i == 0 || i == length + 1 ? 1 : escape(text[i - 1], written);
        if (needed + count < size)
            memcpy(json + needed, written, count);
        needed += count;
    }
    if (size > 0)
        json[needed < size ? needed : 0] = '\0';
    return needed;
}
