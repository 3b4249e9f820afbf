/* A bot that senses and moves at random, in reconnaissance blind chess or in any other variant the server plays.
 *
 *     random_bot --player 1 --opponent 2 --variant rbc     makes a game and plays White
 *     random_bot --player 1 --opponent open                leaves Black to the first player who joins
 *     random_bot --player 2 --game 1                       plays in a game, and joins it if necessary
 *
 * A registered player has an id or a name, and needs its key: --key KEY, --key @FILE, or the variable GM_KEY.
 */
#define _POSIX_C_SOURCE 200809L /* for clock_gettime and getpid */

#include "gm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Large enough for every reply: states are requested without their boards. */
#define REPLY_SIZE (1 << 16)
#define REQUEST_SIZE 1024
#define NAME_SIZE 400 /* of a name or a key, quoted */

struct options {
    const char *host, *port, *player, *key, *opponent, *game, *variant, *seed;
};

struct bot {
    struct gm_session session;
    int64_t player, game_id;
    uint32_t random;
    char hello[REQUEST_SIZE];
    char request[REQUEST_SIZE];
    char reply[REPLY_SIZE];
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "random_bot: %s: %s\n", what, why);
    exit(1);
}

/* Ends the program if there is no reply, or if it is an error other than `allowed`. */
static struct gm_json checked(struct bot *bot, int status, size_t length, const char *allowed)
{
    char why[200];
    struct gm_json reply = {NULL, 0}, error = {NULL, 0}, code;
    if (status != GM_OK && status != GM_REFUSED)
        die(bot->request, gm_explain(&bot->session.connection, status, why, sizeof why));
    if (gm_json_parse(bot->reply, length, &reply) != GM_OK || gm_json_find(reply, "error", &error) != GM_OK)
        die(bot->request, "the reply is not JSON of a gm server");
    int is_allowed = allowed && gm_json_find(reply, "code", &code) == GM_OK && gm_json_equals(code, allowed);
    if (!gm_json_is_null(error) && !is_allowed)
        die(bot->request, bot->reply);
    return reply;
}

/* Sends the request in bot->request. */
static struct gm_json ask(struct bot *bot, const char *allowed)
{
    size_t length = 0;
    int status = gm_session_ask(&bot->session, bot->request, bot->reply, sizeof bot->reply, &length);
    return checked(bot, status, length, allowed);
}

static struct gm_json member(struct gm_json object, const char *path)
{
    struct gm_json value;
    if (gm_json_find(object, path, &value) != GM_OK)
        die("the reply lacks", path);
    return value;
}

static int64_t integer(struct gm_json object, const char *path)
{
    int64_t value;
    if (gm_json_integer(member(object, path), &value) != GM_OK)
        die("the reply has no integer for", path);
    return value;
}

/* Marsaglia's xorshift, 32 bits. */
static uint32_t next_random(struct bot *bot)
{
    bot->random ^= bot->random << 13;
    bot->random ^= bot->random >> 17;
    bot->random ^= bot->random << 5;
    return bot->random;
}

/* One element, quotes included; if there is none, null, which senses nothing or passes. */
static struct gm_json pick(struct bot *bot, struct gm_json array)
{
    static const struct gm_json null = {"null", 4};
    struct gm_json element;
    size_t count;
    uint64_t random = next_random(bot);
    if (gm_json_count(array, &count) != GM_OK)
        die("the reply has no array", array.start);
    return gm_json_at(array, (size_t)(random * count >> 32), &element) == GM_OK ? element : null;
}

/* Sends {"kind": kind, name: action}. The ply makes a repeated request harmless. */
static void act(struct bot *bot, const char *kind, const char *name, struct gm_json action, int64_t ply)
{
    snprintf(bot->request, sizeof bot->request,
             "{\"kind\":\"%s\",\"game_id\":%" PRId64 ",\"ply\":%" PRId64 ",\"%s\":%.*s,\"brief\":true}", kind,
             bot->game_id, ply, name, (int)action.length, action.start);
    ask(bot, "game_over"); /* the opponent may have resigned */
}

/* Plays one turn, if there is one; returns 0 once the game is over. */
static int play_turn(struct bot *bot)
{
    snprintf(bot->request, sizeof bot->request,
             "{\"kind\":\"wait\",\"game_id\":%" PRId64 ",\"actions\":true,\"brief\":true}", bot->game_id);
    struct gm_json reply = ask(bot, NULL);
    if (gm_json_equals(member(reply, "state.phase"), "over"))
        return 0;
    struct gm_json squares = member(reply, "sense_actions"), moves = member(reply, "move_actions");
    if (gm_json_is_null(moves))
        return 1; /* the wait has timed out */
    int64_t ply = integer(reply, "state.ply_index");
    int senses = !gm_json_is_null(squares);
    struct gm_json square = senses ? pick(bot, squares) : squares;
    struct gm_json move = pick(bot, moves);
    char text[16], kept[16]; /* the next reply overwrites the one they point into */
    snprintf(text, sizeof text, "%.*s", (int)square.length, square.start);
    snprintf(kept, sizeof kept, "%.*s", (int)move.length, move.start);
    square.start = text;
    move.start = kept;
    if (senses)
        act(bot, "sense", "square", square, ply);
    act(bot, "move", "move", move, ply);
    return 1;
}

/* Whether a text is an integer, and may be used in a request as it is. */
static int is_id(const char *text)
{
    struct gm_json value;
    int64_t integer;
    return gm_json_parse(text, strlen(text), &value) == GM_OK && gm_json_integer(value, &integer) == GM_OK;
}

static int is_open(const char *opponent)
{
    return strcmp(opponent, "open") == 0;
}

/* The token must be new: a used one returns the game that was made with it. */
static void make_game(struct bot *bot, const struct options *options)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    /* Random moves would go on for long. In rbc the players do not decide on draws. */
    const char *draws = strcmp(options->variant, "rbc") == 0 ? "" : ",\"draws\":\"automatic\"";
    snprintf(bot->request, sizeof bot->request,
             "{\"kind\":\"new_game\",\"player_white\":%" PRId64 ",\"player_black\":%s,\"variant\":\"%s\"%s,"
             "\"token\":\"%ld.%09ld %ld\",\"brief\":true}",
             bot->player, is_open(options->opponent) ? "null" : options->opponent, options->variant, draws,
             (long)now.tv_sec, now.tv_nsec, (long)getpid());
    bot->game_id = integer(ask(bot, NULL), "game_id");
}

/* A player who has a seat already keeps it. */
static void join_game(struct bot *bot, const char *game)
{
    snprintf(bot->request, sizeof bot->request, "{\"kind\":\"join\",\"game_id\":%s,\"brief\":true}", game);
    ask(bot, NULL);
    bot->game_id = strtoll(game, NULL, 10);
}

/* Reads a key from a file, without the white space after it. */
static void read_key(const char *path, char *key, size_t size)
{
    FILE *file = fopen(path, "r");
    if (!file || !fgets(key, (int)size, file))
        die(path, "no key can be read from it");
    fclose(file);
    key[strcspn(key, " \t\r\n")] = '\0';
}

/* ,"name":"text", or nothing if there is no text. */
static void write_member(char *json, size_t size, const char *name, const char *text)
{
    char quoted[NAME_SIZE];
    json[0] = '\0';
    if (!text)
        return;
    if (gm_json_quote(quoted, sizeof quoted, text, strlen(text)) >= sizeof quoted)
        die(name, "too long");
    snprintf(json, size, ",\"%s\":%s", name, quoted);
}

/* A file is safer for a key: every program on the machine may read the arguments. */
static void write_key(char *json, size_t size, const char *key)
{
    char kept[NAME_SIZE];
    if (!key)
        key = getenv("GM_KEY");
    if (key && key[0] == '@') {
        read_key(key + 1, kept, sizeof kept);
        key = kept;
    }
    write_member(json, size, "key", key && *key ? key : NULL);
}

static void greet(struct bot *bot, const struct options *options)
{
    char player[NAME_SIZE + 16], key[NAME_SIZE + 16];
    if (is_id(options->player))
        snprintf(player, sizeof player, ",\"player\":%s", options->player);
    else
        write_member(player, sizeof player, "name", options->player);
    write_key(key, sizeof key, options->key);
    snprintf(bot->hello, sizeof bot->hello,
             "{\"kind\":\"hello\",\"protocol\":2,\"client\":\"random_bot.c\"%s%s}", player, key);
    gm_session_init(&bot->session, options->host, options->port, bot->hello);
    snprintf(bot->request, sizeof bot->request, "hello");
    size_t length = 0;
    int status = gm_session_open(&bot->session, bot->reply, sizeof bot->reply, &length);
    bot->player = integer(checked(bot, status, length, NULL), "player");
}

static int read_options(int count, char **words, struct options *options)
{
    struct {
        const char *name, **value;
    } known[] = {{"--server", &options->host}, {"--host", &options->host},
                 {"--port", &options->port},   {"--player", &options->player},
                 {"--key", &options->key},     {"--opponent", &options->opponent},
                 {"--game", &options->game},   {"--variant", &options->variant},
                 {"--seed", &options->seed}};
    for (int i = 1; i < count; i += 2) {
        size_t j = 0;
        while (j < sizeof known / sizeof *known && strcmp(words[i], known[j].name) != 0)
            j++;
        if (j == sizeof known / sizeof *known || i + 1 == count)
            return 0;
        *known[j].value = words[i + 1];
    }
    const char *other = options->opponent ? options->opponent : options->game;
    if (!options->player || !options->opponent == !options->game)
        return 0;
    return is_id(other) || (options->opponent && is_open(other));
}

int main(int count, char **words)
{
    struct options options = {NULL, NULL, NULL, NULL, NULL, NULL, "rbc", NULL};
    if (!read_options(count, words, &options)) {
        fputs("random_bot: give --player ID, and either --opponent ID or --game ID\n", stderr);
        return 2;
    }
    static struct bot bot; /* static for its size */
    uint32_t seed = options.seed ? (uint32_t)strtoul(options.seed, NULL, 10) : (uint32_t)time(NULL);
    bot.random = seed ^ UINT32_C(0x9e3779b9);
    if (bot.random == 0)
        bot.random = 1;
    greet(&bot, &options);
    if (options.game)
        join_game(&bot, options.game);
    else
        make_game(&bot, &options);
    printf("game %" PRId64 "\n", bot.game_id);
    fflush(stdout);
    while (play_turn(&bot))
        ;
    struct gm_json reply;
    char result[16], termination[32];
    gm_json_parse(bot.reply, strlen(bot.reply), &reply);
    gm_json_string(member(reply, "state.result"), result, sizeof result, NULL);
    gm_json_string(member(reply, "state.termination"), termination, sizeof termination, NULL);
    printf("%s %s\n", result, termination);
    gm_session_close(&bot.session);
    return 0;
}
