// Generated from the structs of gm_protocol: run `python -m clients.generate`.

/** Kinds that change nothing, or nothing more when repeated. */
export const READING = new Set([
  "hello",
  "ping",
  "state",
  "wait",
  "actions",
  "games",
  "history",
  "join",
  "revoke",
  "players",
  "invitations",
  "accept",
  "decline",
  "settings",
  "leaderboard",
  "contest",
  "belief",
]);

/** Kinds that may be sent again if "ply" identifies the action. */
export const ACTING = new Set([
  "move",
  "sense",
  "end_game",
]);

/** Kinds that may be sent again if they have a "token". */
export const MAKING = new Set([
  "new_game",
  "game_from_pgn",
  "register",
  "rekey",
  "challenge",
  "seek",
  "pair",
]);
