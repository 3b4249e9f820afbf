// The messages of the gm protocol. PROTOCOL is the reference of all kinds, fields and codes.
// Generated from protocol/schema.json: change the structs of gm_protocol, and run `python -m clients.generate`.

/** An id. Ids beyond 2**53 - 1 are BigInts in replies, and must be BigInts in requests. */
export type Id = number | bigint;

export type Color = "black" | "white";

export type Variant = "chess960" | "crazyhouse" | "dark_chess" | "rbc" | "standard" | (string & {});

export type Piece = "wp" | "wN" | "wB" | "wR" | "wQ" | "wK" | "bp" | "bN" | "bB" | "bR" | "bQ" | "bK";

export type Phase = "move" | "open" | "over" | "sense";

export type Result = "*" | "0-1" | "1-0" | "1/2-1/2";

export type Termination =
  | "available_move"
  | "declined"
  | "draw_agreed"
  | "draw_fifty_moves"
  | "draw_material"
  | "draw_move_limit"
  | "draw_repetition"
  | "draw_timeout"
  | "draw_turn_limit"
  | "expired"
  | "forfeit_black"
  | "forfeit_white"
  | "resignation_black"
  | "resignation_white"
  | "stalemate"
  | "taken_draw_black"
  | "taken_draw_white"
  | "timeout_black"
  | "timeout_white"
  | "victory_black"
  | "victory_white"
  | "withdrawn"
  | (string & {});

export type VoluntaryTermination =
  | "draw_agreed"
  | "resignation_black"
  | "resignation_white"
  | "taken_draw_black"
  | "taken_draw_white";

export type GameStatus = "live" | "open" | "over";

export type SenseResult = [string, Piece | null][];

/**
 * A time control, in seconds: initial with increment, or first_move with per_move. margin is by how much a player may
 * exceed its time without losing. lag is how much of the time until a request arrives the client may claim as not the
 * player's, for each request.
 */
export interface Clock {
  /** Time for the game, above 0. */
  initial?: number;
  /** Added after each own move. */
  increment?: number;
  /** Time for the first move, above 0. */
  first_move?: number;
  /** Time for each later move, above 0. */
  per_move?: number;
  /** Overstepping that does not lose. */
  margin?: number;
  /** Most delay not charged, per request. */
  lag?: number;
}

/** How a contest stands. It says nothing of games that are not over but that they are played. */
export interface ContestReport {
  /** The contest's name. */
  title: string;
  /** What it is. */
  form: "match" | "tournament";
  /** Of its games. */
  variant: Variant;
  /** stopped: it may be resumed. */
  status?: "over" | "running" | "stopped";
  /** A sentence: what is played, or the verdict. */
  note?: string;
  /** Games planned, if known. */
  planned?: number | null;
  /** Games that are over. */
  games?: number;
  /** The table, best first. */
  players: ContestPlayer[];
  /** The heads of the cells. */
  columns?: string[];
  /** The first player's, from 0 to 1. */
  score?: ContestInterval | null;
  /** The first player's, over the second. */
  elo?: ContestInterval | null;
  /** The test that ends the match. */
  sprt?: ContestSprt | null;
  /** The past, oldest first. */
  curve?: ContestPoint[];
  /** Games, newest first. */
  latest?: ContestGame[];
  [field: string]: unknown;
}

/** A row of the table. Its cells are its results against each player, or in each round. */
export interface ContestPlayer {
  /** As in the table. */
  name: string;
  /** On this server, if known. */
  player?: Id | null;
  /** Of all games. */
  points?: number;
  /** Played and over. */
  games?: number;
  /** Of these. */
  wins?: number;
  /** Of these. */
  draws?: number;
  /** Of these. */
  losses?: number;
  /** One for each column. */
  cells?: string[];
  [field: string]: unknown;
}

/** An estimate, and the interval in which the true value is in 19 of 20 cases. */
export interface ContestInterval {
  /** The estimate. */
  value: number;
  /** The interval's lower end. */
  low: number;
  /** Its upper end. */
  high: number;
  [field: string]: unknown;
}

/** A sequential probability ratio test of elo0 (H0) against elo1 (H1). */
export interface ContestSprt {
  /** The Elo of H0. */
  elo0: number;
  /** The Elo of H1. */
  elo1: number;
  /** The chance to accept H1 where H0 holds. */
  alpha: number;
  /** The chance to accept H0 where H1 holds. */
  beta: number;
  /** The kind of Elo. */
  model: "logistic" | "normalized";
  /** At or below this ratio H0 is accepted. */
  lower: number;
  /** At or above this ratio H1 is accepted. */
  upper: number;
  /** The log-likelihood ratio now. */
  llr: number;
  /** The hypothesis accepted. */
  accepted?: "H0" | "H1" | null;
  [field: string]: unknown;
}

/** How a match of two stood after some games. */
export interface ContestPoint {
  /** After so many games. */
  games: number;
  /** The estimate of the first player's Elo. */
  elo?: number | null;
  /** Its interval's lower end. */
  low?: number | null;
  /** Its upper end. */
  high?: number | null;
  /** The test's log-likelihood ratio. */
  llr?: number | null;
  [field: string]: unknown;
}

/** A game of a contest. white and black are numbers of players, from 0. */
export interface ContestGame {
  /** The game. */
  game_id: number;
  /** The place in players. */
  white: number;
  /** The place in players. */
  black: number;
  /** Left out: in progress. */
  result?: "+/-" | "-/+" | "-/-" | "0-1" | "1-0" | "1/2-1/2" | null;
  [field: string]: unknown;
}

/** All limits of the server that can refuse a request or end a session. */
export interface Limits {
  /** Longest request, in bytes. */
  max_message: number;
  /** Most connections at a time. */
  max_connections: number;
  /** Longest wait. */
  max_wait_seconds: number;
  /** Most games in one wait. */
  max_wait_games: number;
  /** Most rows in a reply of games. */
  max_games_page: number;
  /** Plies after which a game is drawn. */
  max_plies: number;
  /** Longest pgn, in characters. */
  max_pgn: number;
  /** Milliseconds of the processor, per address. */
  max_work_per_minute: number | null;
  /** Silence after which a session ends. */
  idle_seconds: number;
  /** Time for one message. */
  frame_seconds: number;
  /** Time for a player's first request in a game. */
  start_seconds: number;
  /** Failed keys and passwords, per address. */
  max_failures_per_minute: number;
  /** Players registered, per address. */
  max_registrations_per_hour: number;
  /** Registered players. */
  max_players: number;
  /** Life of an invitation. */
  invitation_seconds: number;
  /** Unanswered invitations, per inviter. */
  max_invitations: number;
  /** Invitations made, per address. */
  max_invitations_per_minute: number;
  /** Life of a seat that new_game keeps. */
  kept_seat_seconds: number;
  /** Unanswered invitations, per invited player. */
  max_invitations_received: number;
  /** Unanswered invitations, per address. */
  max_invitations_from_address: number;
  /** Games made, per address. */
  max_games_per_hour: number;
  /** Games that are not over, per address. */
  max_unfinished_games: number;
  /** Players registered, per address. */
  max_registrations_per_day: number;
  /** Keys replaced, per address. */
  max_rekeys_per_hour: number;
  [limit: string]: number | null;
}

/** A bot that the server runs: it plays whoever invites it. */
export interface ServerBot {
  /** The player. */
  player: number;
  /** Its name. */
  name: string;
  /** What it plays. */
  variants: string[];
  /** Its level. */
  about: string;
  [field: string]: unknown;
}

/**
 * A game as one viewer may see it. The first ten fields are those of version 1. board, access_map and pgn are left
 * out of the replies to brief requests. Only crazyhouse has pockets, only rbc the three fields after it, and only
 * dark_chess visible.
 */
export interface GameState {
  /** Rank 1 is first, in it file a; null: an empty square. */
  board?: (Piece | null)[][];
  /** Bits: 1, 2 White's king's, queen's side; 4, 8 Black's. */
  available_castles: number;
  /** File, 0 to 7, of legal en passant; else -1. */
  passant_file: number;
  /** For each square, the pieces that could move there. */
  access_map?: [number, number][][][];
  /** Plies played; rbc: turns played. */
  ply_index: number;
  /** The moves in PGN, without headers; null: hidden. */
  pgn?: string | null;
  /** The position in FEN. */
  fen: string;
  /** Bits of draws that can be taken: 1 fifty moves, 2 threefold. */
  draws: number;
  /** How the game stands. */
  termination: Termination;
  /** Whether the side to move is in check. */
  in_check: boolean;
  /** The game. */
  game_id: number;
  /** Its variant. */
  variant: string;
  /** The player; null: an open seat. */
  player_white: Id | null;
  /** The player; null: an open seat. */
  player_black: Id | null;
  /** The first position, complete. */
  start_fen: string;
  /** The side to move. */
  turn: Color;
  /** What is to be done; null: hidden. */
  phase: Phase | null;
  /** "*" until the game has one. */
  result: Result;
  /** null: no clock. */
  clock: ClockState | null;
  /** Whether an offer stands. */
  draw_offered: boolean;
  /** In UCI. */
  last_move: string | null;
  /** crazyhouse: the pieces in hand. */
  pockets?: Pockets;
  /** rbc: where the opponent captured. */
  opponent_capture?: string | null;
  /** rbc: the seat's latest sense. */
  last_sense?: LastSense | null;
  /** rbc: the seat's latest move. */
  last_result?: LastResult | null;
  /** dark_chess: the squares seen. */
  visible?: string[] | null;
  [field: string]: unknown;
}

/** The seconds that each side has left; null where hidden. The clock of the side to move runs on from this value. */
export interface ClockState {
  /** Seconds left; null: hidden. */
  white: number | null;
  /** Seconds left; null: hidden. */
  black: number | null;
  [field: string]: unknown;
}

/** The pieces that each side has in hand in crazyhouse, most valuable first (White's in capitals). */
export interface Pockets {
  /** As "QNP". */
  white: string;
  /** As "qnp". */
  black: string;
  [field: string]: unknown;
}

/** A seat's latest sense: its ply, its square (null: none), and its result. */
export interface LastSense {
  /** The ply_index it was made at. */
  ply: number;
  /** Its centre; null: nothing. */
  square: string | null;
  /** The squares sensed, and what stands there. */
  sense_result: SenseResult;
  [field: string]: unknown;
}

/** A seat's latest move: its ply, the requested move, the one taken (null: none), and where it captured. */
export interface LastResult {
  /** The ply_index it was made at. */
  ply: number;
  /** The move as sent; null: a pass. */
  requested_move: string | null;
  /** The move made; null: nothing moved. */
  taken_move: string | null;
  /** Where it captured. */
  capture_square: string | null;
  [field: string]: unknown;
}

/** The options of a game as the server resolved them, without those that its variant does not have. */
export interface Options {
  /** The variant. */
  variant: Variant;
  /** The start position. */
  fen: string;
  /** Its number. */
  position?: number | null;
  /** As in the request. */
  draws?: "automatic" | "claimed";
  /** As in the request. */
  max_moves?: number | null;
  /** As in the request. */
  clock: Clock | null;
  /** As in the request. */
  illegal_move?: "lose" | "refuse";
  /** As in the request. */
  reversible_moves?: number | null;
  /** As in the request. */
  max_turns?: number | null;
  [field: string]: unknown;
}

/** The names of a game's players; null for an open id or an empty seat. */
export interface PlayerNames {
  /** The player's name. */
  white: string | null;
  /** The player's name. */
  black: string | null;
  [field: string]: unknown;
}

/** The sense that leaves the fewest positions on average. */
export interface Hint {
  /** Its square. */
  square: string;
  /** The share of the positions that it leaves. */
  left: number;
  [field: string]: unknown;
}

/**
 * A game in a list of games. Both times are UTC, as in 2026-11-21T04:41:00Z. changed is when the game last began, got
 * a move, or ended.
 */
export interface GameRow {
  /** The game. */
  game_id: number;
  /** Its variant. */
  variant: Variant;
  /** The player; null: an open seat. */
  player_white: Id | null;
  /** The player; null: an open seat. */
  player_black: Id | null;
  /** open (not begun), live or over. */
  status: GameStatus;
  /** The side to move. */
  turn: Color;
  /** Plies played; rbc: turns played. */
  ply_index: number;
  /** How the game stands. */
  termination: Termination;
  /** "*" until the game has one. */
  result: Result;
  /** UTC: 2026-11-21T04:41:00Z. */
  created: string;
  /** UTC of its start, last move or end. */
  changed: string;
  [field: string]: unknown;
}

/**
 * A registered player, as shown to the operator. revoked: it has no key. here: it has a session, or sent a request
 * lately. room: how many more games it takes.
 */
export interface PlayerRow {
  /** The player. */
  player: number;
  /** Its name. */
  name: string;
  /** Whether it has one. */
  password: boolean;
  /** Whether it has no key any more. */
  revoked: boolean;
  /** Whether it is present. */
  here: boolean;
  /** How many more games it takes. */
  room: number;
  /** UTC: 2026-11-21T04:41:00Z. */
  created: string;
  [field: string]: unknown;
}

/**
 * An invitation that waits for an answer, as shown to one of the two players. opponent is the other player, or null
 * if that seat is open; name is its name if it is registered; color is the colour of the player that asks. lapses is
 * how many seconds it was given to begin; null in games of older servers.
 */
export interface InvitationRow {
  /** The game. */
  game_id: number;
  /** The other player; null: an open seat. */
  opponent: number | null;
  /** Its name, if registered. */
  name: string | null;
  /** The player's color. */
  color: Color;
  /** The game's options. */
  options: Options;
  /** Whether it counts for ratings. */
  ranked: boolean;
  /** UTC: 2026-11-21T04:41:00Z. */
  created: string;
  /** Seconds from created until it expires, if known. */
  lapses: number | null;
  /** Games the bots begin first. */
  ahead?: number;
  [field: string]: unknown;
}

/** A version of a player's bot. deviation is the standard deviation of its rating; anchor: its rating is fixed. */
export interface LeaderboardRow {
  /** 1: the highest rating. */
  place: number;
  /** The player. */
  player: number;
  /** Its name. */
  name: string;
  /** Of the player's bot. */
  version: number;
  /** On Elo's scale. */
  rating: number;
  /** Its standard deviation. */
  deviation: number;
  /** Whether the rating is fixed. */
  anchor: boolean;
  /** Ranked games that have ended. */
  games: number;
  /** Of these. */
  wins: number;
  /** Of these. */
  draws: number;
  /** Of these. */
  losses: number;
  [field: string]: unknown;
}

// Requests.

/** Fields that a request of any kind may have. A player of null is nobody. */
export interface Fields {
  /** A value that the reply repeats. */
  id?: Id | string | null;
  /** Whether states in the reply lack board, access_map and pgn. */
  brief?: boolean;
  /** The player who acts; left out: the session's; null: nobody. */
  player?: Id | null;
  /** The key of that player; null: none. */
  key?: string | null;
}

/** The terms of a new game. The client adds a token if there is none. */
export interface GameFields extends Fields {
  /** Names the request for a retry. */
  token?: string | null;
  /** Default: standard. */
  variant?: Variant | null;
  /** The start position. */
  fen?: string | null;
  /** Number of the start position. */
  position?: number | null;
  /** Instead of position; taken modulo 960. */
  seed?: Id | null;
  /** How draws come about. */
  draws?: "automatic" | "claimed" | null;
  /** Moves a side, then a draw. */
  max_moves?: number | null;
  /** The time control. */
  clock?: string | Clock | null;
  /** Default: refuse. */
  illegal_move?: "lose" | "refuse" | null;
  /** rbc; default: 100; null: no limit. */
  reversible_moves?: number | null;
  /** rbc: turns a side, then a draw. */
  max_turns?: number | null;
}

/** A request to begin a version 2 session, or to name another player for the rest of it, by id or name. */
export interface HelloFields extends Fields {
  /** The highest version the client speaks. */
  protocol?: Id;
  /** Client program. */
  client?: string;
  /** A registered player's name, instead of player. */
  name?: string | null;
  /** Its password, instead of key. */
  password?: string | null;
  /** Shows live games in full. */
  spectator_key?: string | null;
}

/** A request that only checks that the server answers. */
export interface PingFields extends Fields {
}

/** A request for a new game; with pgn as GameFromPgn. A null seat goes to the first who joins. */
export interface NewGameFields extends GameFields {
  /** The player; null: an open seat. */
  player_white: Id | null;
  /** The player; null: an open seat. */
  player_black: Id | null;
  /** As in game_from_pgn. */
  pgn?: string | null;
}

/** A request for a new game from the end of a PGN's main line. */
export interface GameFromPgnFields extends GameFields {
  /** The player; null: an open seat. */
  player_white: Id | null;
  /** The player; null: an open seat. */
  player_black: Id | null;
  /** One game; its main line is played. */
  pgn: string;
}

/** A request to move, in SAN or UCI; in rbc, null passes. */
export interface MoveFields extends Fields {
  /** The game. */
  game_id: Id;
  /** SAN or UCI; null (rbc): pass. */
  move: string | null;
  /** The seat acted for. */
  seat?: Color | null;
  /** The ply_index acted on; makes a retry safe. */
  ply?: Id | null;
  /** Seconds the player took, for a clock with lag. */
  thought?: number | null;
  /** Whether to offer a draw. */
  offer_draw?: boolean;
  /** Whether to take a draw if the move allows it. */
  claim_draw?: boolean;
}

/** A request to sense the three by three squares around square (a name, or a1 = 0 to h8 = 63); null for none. */
export interface SenseFields extends Fields {
  /** The game. */
  game_id: Id;
  /** A name (e7), 0 (a1) to 63 (h8), or null: sense nothing. */
  square: string | Id | null;
  /** The seat acted for. */
  seat?: Color | null;
  /** The ply_index acted on; makes a retry safe. */
  ply?: Id | null;
  /** Seconds the player took, for a clock with lag. */
  thought?: number | null;
}

/** A request to resign, to claim a draw, or to agree to a draw. */
export interface EndGameFields extends Fields {
  /** The game. */
  game_id: Id;
  /** How the game is to end. */
  termination: VoluntaryTermination;
  /** The seat acted for. */
  seat?: Color | null;
  /** The ply_index acted on; makes a retry safe. */
  ply?: Id | null;
  /** Seconds the player took, for a clock with lag. */
  thought?: number | null;
}

/** A request for a game's state, as player may see it. */
export interface StateFields extends Fields {
  /** The game. */
  game_id: Id;
  /** The seat acted for. */
  seat?: Color | null;
  /** Whether to add the actions. */
  actions?: boolean;
}

/** A request that blocks until the player must act in one of the games, or one is over. */
export interface WaitFields extends Fields {
  /** Wait for this game. */
  game_id?: Id | null;
  /** Wait for the first of these games. */
  game_ids?: Id[] | null;
  /** Wait for any of the player's games. */
  any?: boolean;
  /** With any: ignore these games. */
  except?: Id[];
  /** The seat acted for. */
  seat?: Color | null;
  /** Spectators: wait until ply_index is above it. */
  ply?: Id | null;
  /** Seconds; default and most: max_wait_seconds. */
  timeout?: number | null;
  /** Whether to add the actions. */
  actions?: boolean;
}

/** A request for the moves, and in rbc the senses, that the player may make now. */
export interface ActionsFields extends Fields {
  /** The game. */
  game_id: Id;
  /** The seat acted for. */
  seat?: Color | null;
}

/** A request for a page of games, newest first. */
export interface GamesFields extends Fields {
  /** Only games of this status. */
  status?: GameStatus | null;
  /** Only games of this variant. */
  variant?: Variant | null;
  /** The most rows. */
  limit?: number;
  /** Only games with a lower id. */
  before?: Id | null;
}

/** A request for the whole game as PGN and as UCI moves. */
export interface HistoryFields extends Fields {
  /** The game. */
  game_id: Id;
}

/** A request to register a player. Repeated with the same name and token, it shows the same player. */
export interface RegisterFields extends Fields {
  /** The name wanted. */
  name: string;
  /** 8 to 256 characters. */
  password?: string | null;
  /** The server's code, if it wants one. */
  invite?: string | null;
  /** 1 to 256 characters, for a retry. */
  token?: string | null;
}

/** A request for a new key for the player; the operator may send its name instead of the id. */
export interface RekeyFields extends Fields {
  /** Operator: instead of player. */
  name?: string | null;
  /** 1 to 256 characters, for a retry. */
  token?: string | null;
}

/** A request to take a seat: an open one, or one that the player was invited to. */
export interface JoinFields extends Fields {
  /** The game. */
  game_id: Id;
  /** The seat to take. */
  seat?: Color | null;
}

/** The operator's request to revoke a player's key and password, and to end its sessions. */
export interface RevokeFields extends Fields {
  /** Instead of player. */
  name?: string | null;
}

/** The operator's request for a page of registered players, newest first; with here, only present ones. */
export interface PlayersFields extends Fields {
  /** Whether to list only players who are present. */
  here?: boolean;
  /** The most rows. */
  limit?: number;
  /** Only players with a lower id. */
  before?: Id | null;
}

/** A request to invite a registered player who is present, by name or id, to a game. */
export interface ChallengeFields extends GameFields {
  /** A name or an id. */
  opponent: Id | string;
  /** The color wanted; else it is drawn. */
  color?: Color | null;
}

/** A request for a game with any player who seeks the same game. If there is none, the player waits for one. */
export interface SeekFields extends GameFields {
  /** The color wanted; else any. */
  color?: Color | null;
}

/**
 * A request for a page of the invitations that wait for an answer: those sent by the player, and those to it.
 * received_after and sent_after are the values from the previous page; without them, both lists start again.
 */
export interface InvitationsFields extends Fields {
  /** The most rows. */
  limit?: number;
  /** Where the page before ended. */
  received_after?: string | null;
  /** Where the page before ended. */
  sent_after?: string | null;
}

/** A request to take the seat that is kept for the player. */
export interface AcceptFields extends Fields {
  /** The game. */
  game_id: Id;
}

/** A request to call off a game that has not begun; without game_id, to stop seeking. */
export interface DeclineFields extends Fields {
  /** The game; left out: stop seeking. */
  game_id?: Id | null;
}

/**
 * A request to change the given settings of a registered player, and to show all of them. version is the present
 * version of the player's bot, or the next one.
 */
export interface SettingsFields extends Fields {
  /** How many games the player takes at a time. */
  max_games?: number | null;
  /** Whether the player wants ranked games. */
  ranked?: boolean | null;
  /** The bot's version. */
  version?: number | null;
}

/** The operator's request to create a game between two registered players who are present, and to invite both. */
export interface PairFields extends GameFields {
  /** A name or an id. */
  white: Id | string;
  /** A name or an id. */
  black: Id | string;
  /** Whether the game counts for the ratings. */
  ranked?: boolean;
}

/** A request for a page of the leaderboard, the strongest first: limit rows after the place after. */
export interface LeaderboardFields extends Fields {
  /** The most rows. */
  limit?: number;
  /** How many rows to skip. */
  after?: Id;
}

/** A report of a contest, in place of the one before with the same player and token; the first one begins it. */
export interface ContestFields extends Fields {
  /** 16 to 256 characters, for one contest. */
  token: string;
  /** How it stands. */
  report: ContestReport;
}

/** A request for what the player may believe of the position in rbc, by all that it has observed. */
export interface BeliefFields extends Fields {
  /** The game. */
  game_id: Id;
  /** The seat acted for. */
  seat?: Color | null;
  /** How many to draw. */
  samples?: number;
  /** Decides which samples. */
  seed?: Id;
  /** Whether to name the sense that would tell most. */
  hint?: boolean;
}

// Replies.

/** Fields that every reply has. */
export interface Reply {
  error: null;
  id?: number | string;
  [field: string]: unknown;
}

/** The server's version, kinds of requests and limits, and the session's player. */
export interface HelloReply extends Reply {
  /** The highest version that both speak. */
  protocol: number;
  /** Name and version of the server. */
  server: string;
  /** The kinds the server knows. */
  kinds: string[];
  /** The session's player. */
  player: Id | null;
  /** The server's limits. */
  limits: Limits;
  /** The server's bots. */
  bots?: ServerBot[];
}

/** The new game, or the one created before with the same token. */
export interface NewGameReply extends Reply {
  /** The game. */
  game_id: number;
  /** The game's state. */
  state: GameState;
  /** The game's options. */
  options: Options;
}

/** The UCI moves and, in rbc, the squares to sense; null if it is not the seat's turn. */
export interface ActionsReply extends Reply {
  /** Squares to sense. */
  sense_actions: string[] | null;
  /** Moves to ask for, in UCI. */
  move_actions: string[] | null;
}

/** The positions that are possible by all that the seat has observed, each as likely as the others. */
export interface BeliefReply extends Reply {
  /** The ply_index it is of. */
  ply: number;
  /** Positions kept. */
  count: number;
  /** Whether no other is possible. */
  exact: boolean;
  /** 12 pieces' chances on 64 squares. */
  marginals: number[][];
  /** Some positions, in FEN. */
  samples: string[];
  /** If asked for; null: the seat is not to sense. */
  hint?: Hint | null;
}

/** A page of games, and the before to send for the next page; null at the end. */
export interface GamesReply extends Reply {
  /** The page. */
  games: GameRow[];
  /** For the next page; null: the end. */
  before: number | null;
}

/** The full PGN with headers, and the moves in UCI. In rbc, history is the game as reconchess saves it. */
export interface HistoryReply extends Reply {
  /** The game, with headers. */
  pgn: string;
  /** Its moves in UCI. */
  moves: string[];
  /** rbc: reconchess's GameHistory; else null. */
  history: Record<string, unknown> | null;
}

/** The seat that the player has taken, or had already, and the game. names is left out if no player is registered. */
export interface JoinReply extends Reply {
  /** The player's seat. */
  seat: Color;
  /** The game's state. */
  state: GameState;
  /** The game's options. */
  options: Options;
  /** If a player is registered. */
  names?: PlayerNames;
}

/** A player and its key; the key is null in the reply to a repeated request if it was used already. */
export interface KeyReply extends Reply {
  /** The player. */
  player: number;
  /** Its name. */
  name: string;
  /** The player's key; null: it has been used. */
  key: string | null;
}

/** The player whose key was revoked. */
export interface PlayerReply extends Reply {
  /** The player. */
  player: number;
  /** Its name. */
  name: string;
}

/** A page of players, and the before to send for the next page; null at the end. */
export interface PlayersReply extends Reply {
  /** The page. */
  players: PlayerRow[];
  /** For the next page; null: the end. */
  before: number | null;
}

/** The game in which the player has a seat; all fields are null while a seek waits. */
export interface SeatReply extends Reply {
  /** The game. */
  game_id: number | null;
  /** The player's seat. */
  seat: Color | null;
  /** The game's state. */
  state: GameState | null;
  /** The game's options. */
  options: Options | null;
}

/**
 * A page of the invitations to the player and of those that it has sent; and whether it seeks an opponent.
 * received_after and sent_after are to be sent for the next page; each is left out at the end of its list.
 */
export interface InvitationsReply extends Reply {
  /** Invitations to the player. */
  received: InvitationRow[];
  /** Invitations from the player. */
  sent: InvitationRow[];
  /** Whether a seek waits. */
  seeking: boolean;
  /** For the next page; left out: the end. */
  received_after?: string;
  /** For the next page; left out: the end. */
  sent_after?: string;
}

/** The settings of a registered player. */
export interface SettingsReply extends Reply {
  /** The player. */
  player: number;
  /** Its name. */
  name: string;
  /** As it is now. */
  max_games: number;
  /** As it is now. */
  ranked: boolean;
  /** As it is now. */
  version: number;
}

/**
 * The game that two players were invited to; accepted has the sides that have accepted, called_off the side that has
 * called it off, or null.
 */
export interface PairReply extends Reply {
  /** The game. */
  game_id: number;
  /** The seats taken so far. */
  accepted: Color[];
  /** The side that called it off. */
  called_off: Color | null;
  /** The game's state. */
  state: GameState;
  /** The game's options. */
  options: Options;
}

/**
 * A page of the leaderboard; the after to send for the next page, null at the end; and the number of games that the
 * ratings are computed from.
 */
export interface LeaderboardReply extends Reply {
  /** The page. */
  leaderboard: LeaderboardRow[];
  /** For the next page; null: the end. */
  after: number | null;
  /** Games the ratings are computed from. */
  games: number;
}

/** The number of the contest, whose page is /contests/NUMBER. */
export interface ContestReply extends Reply {
  /** Its page: /contests/ID. */
  contest_id: number;
}

/** The result of a sense; empty if nothing was sensed. */
export interface SenseReply extends Reply {
  /** The squares sensed, and what stands there. */
  sense_result: SenseResult;
  /** The game's state. */
  state: GameState;
}

/** The game. */
export interface StateReply extends Reply {
  state: GameState;
}

/** The game, with the actions if requested, and with names if a player is registered. */
export interface StateActionsReply extends Reply {
  state: GameState;
  /** Of actions, if asked for. */
  sense_actions?: string[] | null;
  /** Of actions, if asked for. */
  move_actions?: string[] | null;
  /** In state, if a player is registered. */
  names?: PlayerNames;
}

/** The game in which the player is to act, or which is over; a state of null if no game needs the player yet. */
export interface WaitReply extends Reply {
  /** The game's state. */
  state: GameState | null;
  /** In wait: the game that is due. */
  game_id?: number;
  /** Of actions, if asked for. */
  sense_actions?: string[] | null;
  /** Of actions, if asked for. */
  move_actions?: string[] | null;
}

/** The game declined; a state of null where there was no game. */
export interface DeclineReply extends Reply {
  /** The game's state. */
  state: GameState | null;
}

/** The game that the opponent is invited to. */
export interface ChallengeReply extends Reply {
  game_id: number;
  seat: Color;
  state: GameState;
  options: Options;
}

/** The game. In reconnaissance blind chess also the move requested, the move made, and the capture square. */
export interface MoveReply extends Reply {
  /** The game's state. */
  state: GameState;
  /** The move as sent; null: a pass. */
  requested_move?: string | null;
  /** The move made; null: nothing moved. */
  taken_move?: string | null;
  /** Where it captured. */
  capture_square?: string | null;
  /** Of move, with claim_draw: why there is no draw. */
  claim_refused?: string;
}

/** A method for each kind. */
export interface Requests {
  /** Change the default player of the requests and connections that follow. */
  hello(fields?: HelloFields): Promise<HelloReply>;
  /** Check that the server answers. */
  ping(fields?: PingFields): Promise<Reply>;
  /** Begin a game; a seat that is null is open to any player. */
  new_game(fields: NewGameFields): Promise<NewGameReply>;
  /** Begin a game from the end of the main line of `pgn`. */
  game_from_pgn(fields: GameFromPgnFields): Promise<NewGameReply>;
  /** Move, in SAN or UCI; in reconnaissance blind chess in UCI, or null to pass. */
  move(fields: MoveFields): Promise<MoveReply>;
  /** Sense around a square, or null to sense nothing. */
  sense(fields: SenseFields): Promise<SenseReply>;
  /** Resign, claim a draw, or agree to one. */
  end_game(fields: EndGameFields): Promise<StateReply>;
  /** Return the game as the player may see it. */
  state(fields: StateFields): Promise<StateActionsReply>;
  /** Wait until the player is to act in the game, or in any of its games, or until a game is over. */
  wait(fields: WaitFields): Promise<WaitReply>;
  /** Return the actions that are open to the player now. */
  actions(fields: ActionsFields): Promise<ActionsReply>;
  /** Return a page of games, newest first. */
  games(fields?: GamesFields): Promise<GamesReply>;
  /** Return the whole game. */
  history(fields: HistoryFields): Promise<HistoryReply>;
  /** Return what the player may know of the position of a game of rbc, by all that it has observed. */
  belief(fields: BeliefFields): Promise<BeliefReply>;
  /** Register a player. Store the key: it is shown only once. */
  register(fields: RegisterFields): Promise<KeyReply>;
  /**
   * Get another key for a registered player, which replaces its present one. The client and its loops of turns go on
   * with a key of their own player.
   */
  rekey(fields?: RekeyFields): Promise<KeyReply>;
  /** Take the seat that the player was invited to, or an open one. */
  join(fields: JoinFields): Promise<JoinReply>;
  /** Invite a registered player who is present, by name or id, to a game in which one's own seat is taken. */
  challenge(fields: ChallengeFields): Promise<ChallengeReply>;
  /** Get a game with another player who seeks one like it, or wait to be found while this connection lasts. */
  seek(fields?: SeekFields): Promise<SeatReply>;
  /** Return a page of the invitations that are not answered. */
  invitations(fields?: InvitationsFields): Promise<InvitationsReply>;
  /** Take the seat that the player was invited to. */
  accept(fields: AcceptFields): Promise<JoinReply>;
  /** Call off a game that has not begun; without a game, stop seeking. */
  decline(fields?: DeclineFields): Promise<DeclineReply>;
  /** Set the given fields, and return the player's settings. */
  settings(fields?: SettingsFields): Promise<SettingsReply>;
  /** Return a page of the ratings from ranked games, the strongest first. */
  leaderboard(fields?: LeaderboardFields): Promise<LeaderboardReply>;
  /** Report how a match or a tournament stands, under a token of its own; it begins with the first report. */
  contest(fields: ContestFields): Promise<ContestReply>;
  /** Revoke a player's key. For the operator only. */
  revoke(fields: RevokeFields): Promise<PlayerReply>;
  /** Return a page of registered players. For the operator only. */
  players(fields?: PlayersFields): Promise<PlayersReply>;
  /** Invite two registered players who are present, by name or id, to a game. For the operator only. */
  pair(fields: PairFields): Promise<PairReply>;
}
