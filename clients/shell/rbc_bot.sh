#!/usr/bin/env bash
# A bot of reconnaissance blind chess that senses and moves at random, with gmcat and jq.
#
#     rbc_bot.sh --player 1 --opponent 2      makes a game, and plays white
#     rbc_bot.sh --player 1 --opponent open   leaves black to whoever joins first
#     rbc_bot.sh --player 2 --game 1          plays in a game that is there
#
# Other arguments are gmcat's: --host, --port, --tls, --key and so on.
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

# One session for the whole game: gmcat reads a request a line, and answers each with a line.
coproc gmcat { exec gmcat "${server[@]}" --player "$player"; }
exec {requests}>&"${gmcat[1]}" {replies}<&"${gmcat[0]}"

# ask REQUEST: sends it, and sets reply; an error is printed, and is no success.
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

# What a turn begins with, in one line: the phase, the ply, a square and a move drawn from what may be sensed and done.
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
    ask "{\"kind\":\"new_game\",\"variant\":\"rbc\",$players,\"brief\":true}"
    game=$(jq .game_id <<<"$reply")
fi
echo "game $game"

# In a game that has not begun there is a seat to be taken: an open one, or one that the player is invited to.
ask "{\"kind\":\"state\",\"game_id\":$game,\"brief\":true}"
if [ -z "$opponent" ] && [ "$(jq -r .state.phase <<<"$reply")" = open ]; then
    ask "{\"kind\":\"join\",\"game_id\":$game,\"brief\":true}"
fi

while :; do
    ask "{\"kind\":\"wait\",\"game_id\":$game,\"actions\":true,\"brief\":true}"
    read -r phase ply square move < <(jq -r --argjson n $RANDOM --argjson m $RANDOM "$draw" <<<"$reply")
    [ "$phase" != over ] || break
    [ "$move" != none ] || continue # the wait is over, and it is not our turn yet
    act="\"game_id\":$game,\"ply\":$ply,\"brief\":true" # with the ply, nothing is done twice
    # The game may end under our hands, as when our time is up: the next wait tells.
    if [ "$phase" = sense ]; then
        ask "{\"kind\":\"sense\",\"square\":$square,$act}" || continue
    fi
    ask "{\"kind\":\"move\",\"move\":$move,$act}" || continue
done
jq -r '.state | "\(.result) \(.termination)"' <<<"$reply"
