/* Checks of the C client with sockets that are slow, cut, or closed at the other end. Each check has a pair of
 * connected sockets: one is the client's, the other belongs to a child process that plays the server. The program
 * prints the checks that it has done; it prints a failure and ends with status 1. */
#define _XOPEN_SOURCE 700 /* for setitimer */

#include "gm.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);        \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

/* More than the buffer of any socket holds. */
#define LARGE (1 << 20)

static char large[LARGE + 1], memory[LARGE + 1];

static void write_all(int fd, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = write(fd, (const char *)bytes + done, size - done);
        CHECK(count > 0);
        done += (size_t)count;
    }
}

static void write_frame(int fd, const char *body)
{
    size_t length = strlen(body);
    unsigned char header[4] = {(unsigned char)(length >> 24), (unsigned char)(length >> 16),
                               (unsigned char)(length >> 8), (unsigned char)length};
    write_all(fd, header, sizeof header);
    write_all(fd, body, length);
}

static void read_all(int fd, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = read(fd, (char *)bytes + done, size - done);
        CHECK(count > 0);
        done += (size_t)count;
    }
}

/* Waits for the client to end its side. */
static void read_to_end(int fd)
{
    char byte;
    CHECK(read(fd, &byte, 1) == 0);
}

typedef void server(int fd);

/* A connection to a server in a child process. */
static struct gm_connection connected_to(server *play, pid_t *child)
{
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    fflush(stdout);
    *child = fork();
    CHECK(*child >= 0);
    if (*child == 0) {
        close(pair[0]);
        play(pair[1]);
        close(pair[1]);
        exit(0);
    }
    close(pair[1]);
    struct gm_connection connection;
    gm_init(&connection);
    CHECK(gm_attach(&connection, pair[0]) == GM_OK);
    return connection;
}

static void done_with(struct gm_connection *connection, pid_t child, const char *name)
{
    int status;
    gm_close(connection);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    printf("%s\n", name);
}

static void one_byte_at_a_time(int fd)
{
    char request[6];
    read_all(fd, request, sizeof request);
    CHECK(memcmp(request, "\0\0\0\2{}", 6) == 0);
    static const char reply[] = "\0\0\0\5[1,2]";
    for (size_t i = 0; i + 1 < sizeof reply; i++)
        write_all(fd, reply + i, 1);
    read_to_end(fd);
}

static void check_single_bytes(void)
{
    pid_t child;
    char reply[16];
    size_t length;
    struct gm_connection connection = connected_to(one_byte_at_a_time, &child);
    CHECK(gm_ask(&connection, "{}", reply, sizeof reply, &length, -1) == GM_OK);
    CHECK(length == 5 && strcmp(reply, "[1,2]") == 0);
    done_with(&connection, child, "a reply in single bytes");
}

/* Answers two requests together, once it has both. */
static void two_at_once(int fd)
{
    char requests[12];
    read_all(fd, requests, sizeof requests);
    write_frame(fd, "\"first\"");
    write_frame(fd, "\"second\"");
    read_to_end(fd);
}

static void check_pipelining(void)
{
    pid_t child;
    char reply[16];
    size_t length;
    struct gm_connection connection = connected_to(two_at_once, &child);
    CHECK(gm_send(&connection, "{}", 2, -1) == GM_OK);
    CHECK(gm_send(&connection, "[]", 2, -1) == GM_OK);
    CHECK(gm_receive(&connection, reply, sizeof reply, &length, -1) == GM_OK && strcmp(reply, "\"first\"") == 0);
    CHECK(gm_receive(&connection, reply, sizeof reply, &length, -1) == GM_OK && strcmp(reply, "\"second\"") == 0);
    done_with(&connection, child, "pipelined requests");
}

/* Sends half of a reply, and the other half after the next request. */
static void half_a_reply(int fd)
{
    char request[6];
    write_all(fd, "\0\0\0\6\"ab", 7);
    read_all(fd, request, sizeof request);
    write_all(fd, "cd\"", 3);
    read_to_end(fd);
}

static void check_that_a_timeout_loses_nothing(void)
{
    pid_t child;
    char reply[7];
    size_t length;
    struct gm_connection connection = connected_to(half_a_reply, &child);
    CHECK(gm_receive(&connection, reply, sizeof reply, &length, 50) == GM_TIMEOUT);
    CHECK(gm_receive(&connection, reply, sizeof reply, &length, 0) == GM_TIMEOUT);
    CHECK(gm_send(&connection, "{}", 2, 0) == GM_OK);
    CHECK(gm_receive(&connection, reply, sizeof reply, &length, -1) == GM_OK && strcmp(reply, "\"abcd\"") == 0);
    done_with(&connection, child, "a timeout inside of a reply");
}

static void large_reply(int fd)
{
    write_frame(fd, large);
    write_frame(fd, "{}");
    read_to_end(fd);
}

static void check_memory_that_is_too_small(void)
{
    pid_t child;
    size_t length;
    struct gm_connection connection = connected_to(large_reply, &child);
    CHECK(gm_receive(&connection, memory, 100, &length, -1) == GM_TOO_LONG && length == LARGE);
    CHECK(gm_receive(&connection, memory, LARGE, &length, -1) == GM_TOO_LONG && length == LARGE);
    CHECK(gm_receive(&connection, memory, LARGE + 1, &length, -1) == GM_OK && length == LARGE);
    CHECK(memcmp(memory, large, LARGE + 1) == 0);
    CHECK(gm_receive(&connection, memory, 2, &length, -1) == GM_TOO_LONG && length == 2);
    CHECK(gm_receive(&connection, memory, 3, &length, -1) == GM_OK && strcmp(memory, "{}") == 0);
    done_with(&connection, child, "a reply that is longer than the memory");
}

static void slow_reader(int fd)
{
    unsigned char header[4];
    read_all(fd, header, sizeof header);
    CHECK(((size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3]) == LARGE);
    for (size_t got = 0; got < LARGE; got += 1 << 16)
        read_all(fd, memory + got, 1 << 16);
    CHECK(memcmp(memory, large, LARGE) == 0);
    write_frame(fd, "{}");
    read_to_end(fd);
}

static volatile sig_atomic_t interruptions;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interruptions++;
}

/* Interrupts system calls, without SA_RESTART, at most 100 times a second: valgrind checks a whole request before it
 * sends it, and starts again at each signal. */
static void interrupt_often(int on)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    struct itimerval timer = {{0, on ? 10000 : 0}, {0, on ? 10000 : 0}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void check_partial_writes_and_interruptions(void)
{
    pid_t child;
    char reply[3];
    size_t length;
    struct gm_connection connection = connected_to(slow_reader, &child); /* our timer does not interrupt the child */
    interrupt_often(1);
    CHECK(gm_receive(&connection, reply, sizeof reply, &length, 200) == GM_TIMEOUT); /* 20 interruptions */
    CHECK(gm_send(&connection, large, LARGE, -1) == GM_OK);
    CHECK(gm_receive(&connection, reply, sizeof reply, &length, -1) == GM_OK && strcmp(reply, "{}") == 0);
    interrupt_often(0);
    CHECK(interruptions > 5);
    done_with(&connection, child, "a request written in parts, and interruptions");
}

static void check_a_send_that_takes_too_long(void)
{
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    struct gm_connection connection;
    gm_init(&connection);
    CHECK(gm_attach(&connection, pair[0]) == GM_OK);
    CHECK(gm_send(&connection, large, LARGE, 50) == GM_TIMEOUT);
    CHECK(connection.fd == -1); /* anything sent later would be read as the rest */
    CHECK(gm_send(&connection, "{}", 2, 50) == GM_CLOSED);
    close(pair[1]);
    printf("a request that nobody reads\n");
}

static void check_a_server_that_has_gone(void)
{
    int pair[2];
    char reply[3], text[100];
    size_t length;
    struct gm_connection connection;
    gm_init(&connection);
    CHECK(gm_receive(&connection, reply, sizeof reply, &length, -1) == GM_CLOSED);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK(gm_attach(&connection, pair[0]) == GM_OK);
    write_all(pair[1], "\0\0", 2);
    close(pair[1]);
    CHECK(gm_receive(&connection, reply, sizeof reply, &length, -1) == GM_CLOSED && connection.fd == -1);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK(gm_attach(&connection, pair[0]) == GM_OK);
    close(pair[1]);
    CHECK(gm_send(&connection, "{}", 2, -1) == GM_SYSTEM); /* and no SIGPIPE */
    CHECK(connection.system_error == EPIPE && connection.fd == -1);
    gm_explain(&connection, GM_SYSTEM, text, sizeof text);
    CHECK(strcmp(text, "a system call failed: Broken pipe") == 0);
    printf("a server that has gone\n");
}

static void check_a_length(const char *header)
{
    int pair[2];
    char reply[3];
    size_t length;
    struct gm_connection connection;
    gm_init(&connection);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK(gm_attach(&connection, pair[0]) == GM_OK);
    write_all(pair[1], header, 4);
    CHECK(gm_receive(&connection, reply, sizeof reply, &length, -1) == GM_BAD_REPLY && connection.fd == -1);
    close(pair[1]);
}

static void check_keepalive(void)
{
#if defined TCP_KEEPIDLE && defined TCP_USER_TIMEOUT
    static const int options[][3] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1},    {IPPROTO_TCP, TCP_KEEPIDLE, 5},         {IPPROTO_TCP, TCP_KEEPINTVL, 2},
        {IPPROTO_TCP, TCP_KEEPCNT, 3},    {IPPROTO_TCP, TCP_USER_TIMEOUT, 10000},
    };
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    char port[6];
    snprintf(port, sizeof port, "%u", (unsigned)ntohs(address.sin_port));
    struct gm_connection connection;
    gm_init(&connection);
    CHECK(gm_open(&connection, "127.0.0.1", port, -1) == GM_OK);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        int value = 0;
        size = sizeof value;
        CHECK(getsockopt(connection.fd, options[i][0], options[i][1], &value, &size) == 0 && value == options[i][2]);
    }
    gm_close(&connection);
    close(listener);
#endif
    printf("keepalive\n");
}

int main(void)
{
    memset(large, 'x', LARGE);
    check_single_bytes();
    check_pipelining();
    check_that_a_timeout_loses_nothing();
    check_memory_that_is_too_small();
    check_partial_writes_and_interruptions();
    check_a_send_that_takes_too_long();
    check_a_server_that_has_gone();
    check_keepalive();
    check_a_length("\0\0\0\0");
    check_a_length("\377\377\377\377");
    check_a_length("HTTP");
    printf("lengths out of range\n");
    return 0;
}
