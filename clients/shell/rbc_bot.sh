#!/usr/bin/env bash
# A bot that plays reconnaissance blind chess with random senses and moves, made of gmcat and jq.
#
#     rbc_bot.sh --player 1 --opponent 2      makes a game and plays White
#     rbc_bot.sh --player 1 --opponent open   leaves Black to the first player who joins
#     rbc_bot.sh --player 2 --game 1          plays in an existing game
#
# All other arguments are passed to gmcat: --server, --port, --tls, --key and so on.
set -euo pipefail

usage() {
    echo 'rbc_bot: give --player ID, and either --opponent ID or --game ID' >&2
    exit 2
}

player='' opponent='' game='' server=()
while [ $# -gt 0 ]; do
    case $1 in
    --player) player=${2?} && shift 2 ;;
    --opponent) opponent=${2?} && shift 2 ;;
    --game) game=${2?} && shift 2 ;;
    *) server+=("$1") && shift ;;
    esac
done
[ -n "$player" ] && [ -n "$opponent$game" ] && { [ -z "$opponent" ] || [ -z "$game" ]; } || usage

# One session for the whole game: gmcat reads one request per line, and answers each with one line.
coproc gmcat { exec gmcat "${server[@]}" --player "$player"; }
exec {requests}>&"${gmcat[1]}" {replies}<&"${gmcat[0]}"

# ask REQUEST: sends it and sets reply; prints an error and fails if there is one.
ask() {
    printf '%s\n' "$1" >&"$requests"
    IFS= read -r reply <&"$replies" || {
        echo 'rbc_bot: gmcat has ended' >&2
        exit 1
    }
    jq -e '.error == null' <<<"$reply" >/dev/null || {
        jq -r '"rbc_bot: \(.error)"' <<<"$reply" >&2
        return 1
    }
}

# The data of a turn in one line: the phase, the ply, and a square and a move drawn from the possible ones.
draw='def pick($n): if length > 0 then .[$n % length] else null end;
      "\(.state.phase) \(.state.ply_index) \(.sense_actions // [] | pick($n) | tojson) " +
      (.move_actions | if . == null then "none" else pick($m) | tojson end)'

if [ -z "$game" ]; then
    [[ $player =~ ^-?[0-9]+$ ]] || {
        echo "rbc_bot: --player $player: with --opponent, give the player's number" >&2
        exit 2
    }
    [ "$opponent" != open ] || opponent=null
    players="\"player_white\":$player,\"player_black\":$opponent"
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n') # with it, no second game is made
    ask "{\"kind\":\"new_game\",\"variant\":\"rbc\",$players,\"token\":\"$token\",\"brief\":true}"
    game=$(jq .game_id <<<"$reply")
fi
echo "game $game"

# A game that has not begun has a seat to take: an open one, or one that the player is invited to.
ask "{\"kind\":\"state\",\"game_id\":$game,\"brief\":true}"
if [ -z "$opponent" ] && [ "$(jq -r .state.phase <<<"$reply")" = open ]; then
    ask "{\"kind\":\"join\",\"game_id\":$game,\"brief\":true}"
fi

while :; do
    ask "{\"kind\":\"wait\",\"game_id\":$game,\"actions\":true,\"brief\":true}"
    read -r phase ply square move < <(jq -r --argjson n $RANDOM --argjson m $RANDOM "$draw" <<<"$reply")
    [ "$phase" != over ] || break
    [ "$move" != none ] || continue # the wait has timed out, and it is not our turn yet
    act="\"game_id\":$game,\"ply\":$ply,\"brief\":true" # with the ply, no action is carried out twice
    # The game may end before the action, for example on time: the next wait reports that.
    if [ "$phase" = sense ]; then
        ask "{\"kind\":\"sense\",\"square\":$square,$act}" || continue
    fi
    ask "{\"kind\":\"move\",\"move\":$move,$act}" || continue
done
jq -r '.state | "\(.result) \(.termination)"' <<<"$reply"
