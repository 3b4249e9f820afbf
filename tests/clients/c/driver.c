/* The C client for tests in another language: reads commands, one on each line, and answers each with one line. Bytes
 * are written as hexadecimal digits, with a "." for none.
 *
 *     open NAME HOST PORT      ok, or the error
 *     ask NAME REQUEST         the reply, or the error; NAME is a digit
 *     close NAME               ok
 *     servers LIST PATIENCE HELLO
 *                              ok, or the reply or error: a session; each of several servers has 500 ms to answer
 *     session_ask REQUEST      the reply, or the error
 *     session_close            ok
 *     parse TEXT               ok, or the error
 *     find TEXT PATH           a member: its text; its string or "-"; its integer or "-"
 *     items TEXT               the texts of an array's elements
 *     quote SIZE TEXT          the length it needs, and what was written
 */
#include "gm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE (1 << 22)
#define WORDS 4

static char line[LINE], reply[LINE], memory[LINE];
static struct gm_connection connections[10];
static struct gm_session session;

/* Returns the bytes of digits, and their number in *size. The memory has exactly that size, so that a sanitizer sees
 * any read behind it. */
static char *bytes_of(const char *digits, size_t *size)
{
    *size = strcmp(digits, ".") == 0 ? 0 : strlen(digits) / 2;
    char *bytes = malloc(*size + !*size);
    for (size_t i = 0; bytes && i < *size; i++) {
        char pair[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
        bytes[i] = (char)strtoul(pair, NULL, 16);
    }
    return bytes;
}

static void print_bytes(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf("%02x", (unsigned)(unsigned char)bytes[i]);
    if (size == 0)
        printf(".");
}

static void print_status(const struct gm_connection *connection, int status)
{
    char text[200];
    printf("%s", status == GM_OK ? "ok" : gm_explain(connection, status, text, sizeof text));
}

static void print_reply(const struct gm_connection *connection, int status, size_t length)
{
    if (status == GM_OK || status == GM_REFUSED)
        print_bytes(reply, length);
    else
        print_status(connection, status);
}

/* Returns the bytes of a request, followed by a NUL. */
static const char *text_of(const char *digits)
{
    size_t size;
    char *bytes = bytes_of(digits, &size);
    memcpy(memory, bytes, size);
    memory[size] = '\0';
    free(bytes);
    return memory;
}

static void do_open(char **words)
{
    struct gm_connection *connection = &connections[atoi(words[0])];
    print_status(connection, gm_open(connection, words[1], words[2], 10000));
}

static void do_ask(char **words)
{
    size_t length;
    struct gm_connection *connection = &connections[atoi(words[0])];
    int status = gm_ask(connection, text_of(words[1]), reply, sizeof reply, &length, 30000);
    print_reply(connection, status, length);
}

static void do_close(char **words)
{
    gm_close(&connections[atoi(words[0])]);
    print_status(NULL, GM_OK);
}

static void do_servers(char **words)
{
    static char list[400], hello[400];
    size_t length;
    snprintf(list, sizeof list, "%s", words[0]);
    snprintf(hello, sizeof hello, "%s", text_of(words[2]));
    gm_session_close(&session);
    gm_session_init(&session, list, "1", hello);
    session.answer_ms = 500;
    session.patience_ms = atoi(words[1]);
    int status = gm_session_open(&session, reply, sizeof reply, &length);
    if (status == GM_REFUSED)
        print_reply(&session.connection, status, length);
    else
        print_status(&session.connection, status);
}

static void do_session_ask(char **words)
{
    size_t length;
    int status = gm_session_ask(&session, text_of(words[0]), reply, sizeof reply, &length);
    print_reply(&session.connection, status, length);
}

static void do_session_close(char **words)
{
    (void)words;
    gm_session_close(&session);
    print_status(NULL, GM_OK);
}

static void do_parse(char **words)
{
    size_t size;
    char *text = bytes_of(words[0], &size);
    struct gm_json value;
    print_status(NULL, gm_json_parse(text, size, &value));
    free(text);
}

static void print_value(struct gm_json value)
{
    size_t length = 0;
    int64_t integer;
    print_bytes(value.start, value.length);
    int status = gm_json_string(value, NULL, 0, &length);
    if (status == GM_TOO_LONG) {
        char *text = malloc(length + 1);
        status = gm_json_string(value, text, length + 1, &length);
        printf(" ");
        print_bytes(text, length);
        free(text);
    } else {
        printf(" -");
    }
    if (gm_json_integer(value, &integer) == GM_OK)
        printf(" %" PRId64, integer);
    else
        printf(" -");
}

static void do_find(char **words)
{
    size_t size;
    char *text = bytes_of(words[0], &size);
    struct gm_json value, member;
    int status = gm_json_parse(text, size, &value);
    if (status == GM_OK)
        status = gm_json_find(value, text_of(words[1]), &member);
    if (status == GM_OK)
        print_value(member);
    else
        print_status(NULL, status);
    free(text);
}

static void do_items(char **words)
{
    size_t size, count = 0;
    char *text = bytes_of(words[0], &size);
    struct gm_json rest, element;
    int status = gm_json_parse(text, size, &rest);
    if (status == GM_OK)
        status = gm_json_count(rest, &count);
    if (status == GM_OK) {
        printf("%zu", count);
        while ((status = gm_json_next(&rest, &element)) == GM_OK) {
            printf(" ");
            print_bytes(element.start, element.length);
        }
    } else {
        print_status(NULL, status);
    }
    free(text);
}

static void do_quote(char **words)
{
    size_t size = (size_t)atoi(words[0]), length;
    char *text = bytes_of(words[1], &length);
    char *json = malloc(size + !size);
    printf("%zu ", gm_json_quote(json, size, text, length));
    print_bytes(json, size ? strlen(json) : 0);
    free(json);
    free(text);
}

static const struct {
    const char *name;
    void (*run)(char **words);
} commands[] = {{"open", do_open},
                {"ask", do_ask},
                {"close", do_close},
                {"servers", do_servers},
                {"session_ask", do_session_ask},
                {"session_close", do_session_close},
                {"parse", do_parse},
                {"find", do_find},
                {"items", do_items},
                {"quote", do_quote}};

int main(void)
{
    for (size_t i = 0; i < sizeof connections / sizeof *connections; i++)
        gm_init(&connections[i]);
    gm_session_init(&session, NULL, NULL, NULL);
    while (fgets(line, sizeof line, stdin)) {
        char *words[WORDS + 1] = {NULL};
        size_t count = 0;
        for (char *word = strtok(line, " \n"); word && count < WORDS; word = strtok(NULL, " \n"))
            words[count++] = word;
        for (size_t i = 0; count > 0 && i < sizeof commands / sizeof *commands; i++)
            if (strcmp(words[0], commands[i].name) == 0)
                commands[i].run(words + 1);
        printf("\n");
        fflush(stdout);
    }
    for (size_t i = 0; i < sizeof connections / sizeof *connections; i++)
        gm_close(&connections[i]);
    gm_session_close(&session);
    return 0;
}
