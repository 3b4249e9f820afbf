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
  initial?: number;
  increment?: number;
  first_move?: number;
  per_move?: number;
  margin?: number;
  lag?: number;
}

/** All limits of the server that can refuse a request or end a session. */
export interface Limits {
  /** Longest request, in bytes. */
  max_message: number;
  max_connections: number;
  max_wait_seconds: number;
  max_wait_games: number;
  max_games_page: number;
  max_plies: number;
  max_pgn: number;
  max_work_per_minute: number | null;
  idle_seconds: number;
  frame_seconds: number;
  start_seconds: number;
  max_failures_per_minute: number;
  max_registrations_per_hour: number;
  max_players: number;
  invitation_seconds: number;
  max_invitations: number;
  max_invitations_per_minute: number;
  kept_seat_seconds: number;
  max_invitations_received: number;
  max_invitations_from_address: number;
  max_games_per_hour: number;
  max_unfinished_games: number;
  max_registrations_per_day: number;
  max_rekeys_per_hour: number;
  [limit: string]: number | null;
}

/**
 * A game as one viewer may see it. The first ten fields are those of version 1. board, access_map and pgn are left
 * out of the replies to brief requests. Only crazyhouse has pockets, only rbc the three fields after it, and only
 * dark_chess visible.
 */
export interface GameState {
  /** Rank 1 is the first list, file a its first element; null: no piece. */
  board?: (Piece | null)[][];
  available_castles: number;
  passant_file: number;
  /** For each square, the rank and file of every piece that could move there. */
  access_map?: [number, number][][][];
  ply_index: number;
  pgn?: string | null;
  fen: string;
  draws: number;
  termination: Termination;
  in_check: boolean;
  game_id: number;
  variant: string;
  player_white: Id | null;
  player_black: Id | null;
  start_fen: string;
  turn: Color;
  phase: Phase | null;
  result: Result;
  clock: ClockState | null;
  draw_offered: boolean;
  last_move: string | null;
  pockets?: Pockets;
  opponent_capture?: string | null;
  last_sense?: LastSense | null;
  last_result?: LastResult | null;
  visible?: string[] | null;
  [field: string]: unknown;
}

/** The seconds that each side has left; null where hidden. The clock of the side to move runs on from this value. */
export interface ClockState {
  white: number | null;
  black: number | null;
  [field: string]: unknown;
}

/** The pieces that each side has in hand in crazyhouse, most valuable first (White's in capitals). */
export interface Pockets {
  white: string;
  black: string;
  [field: string]: unknown;
}

/** A seat's latest sense: its ply, its square (null: none), and its result. */
export interface LastSense {
  ply: number;
  square: string | null;
  sense_result: SenseResult;
  [field: string]: unknown;
}

/** A seat's latest move: its ply, the requested move, the one taken (null: none), and where it captured. */
export interface LastResult {
  ply: number;
  requested_move: string | null;
  taken_move: string | null;
  capture_square: string | null;
  [field: string]: unknown;
}

/** The options of a game as the server resolved them, without those that its variant does not have. */
export interface Options {
  variant: Variant;
  fen: string;
  position?: number | null;
  draws?: "automatic" | "claimed";
  max_moves?: number | null;
  clock: Clock | null;
  illegal_move?: "lose" | "refuse";
  reversible_moves?: number | null;
  max_turns?: number | null;
  [field: string]: unknown;
}

/** The names of a game's players; null for an open id or an empty seat. */
export interface PlayerNames {
  white: string | null;
  black: string | null;
  [field: string]: unknown;
}

/**
 * A game in a list of games. Both times are UTC, as in 2026-11-21T04:41:00Z. changed is when the game last began, got
 * a move, or ended.
 */
export interface GameRow {
  game_id: number;
  variant: Variant;
  player_white: Id | null;
  player_black: Id | null;
  status: GameStatus;
  turn: Color;
  ply_index: number;
  termination: Termination;
  result: Result;
  created: string;
  changed: string;
  [field: string]: unknown;
}

/**
 * A registered player, as shown to the operator. revoked: it has no key. here: it has a session, or sent a request
 * lately. room: how many more games it takes.
 */
export interface PlayerRow {
  player: number;
  name: string;
  password: boolean;
  revoked: boolean;
  here: boolean;
  room: number;
  created: string;
  [field: string]: unknown;
}

/**
 * An invitation that waits for an answer, as shown to one of the two players. opponent is the other player, or null
 * if that seat is open; name is its name if it is registered; color is the colour of the player that asks. lapses is
 * how many seconds it was given to begin, or null.
 */
export interface InvitationRow {
  game_id: number;
  opponent: number | null;
  name: string | null;
  color: Color;
  options: Options;
  ranked: boolean;
  created: string;
  lapses: number | null;
  [field: string]: unknown;
}

/** A version of a player's bot. deviation is the standard deviation of its rating; anchor: its rating is fixed. */
export interface LeaderboardRow {
  place: number;
  player: number;
  name: string;
  version: number;
  rating: number;
  deviation: number;
  anchor: boolean;
  games: number;
  wins: number;
  draws: number;
  losses: number;
  [field: string]: unknown;
}

// Requests.

/** Fields that a request of any kind may have. A player of null is nobody. */
export interface Fields {
  id?: Id | string | null;
  brief?: boolean;
  player?: Id | null;
  key?: string | null;
}

/** The terms of a new game. The client adds a token if there is none. */
export interface GameFields extends Fields {
  token?: string | null;
  variant?: Variant | null;
  fen?: string | null;
  position?: number | null;
  seed?: Id | null;
  draws?: "automatic" | "claimed" | null;
  max_moves?: number | null;
  clock?: string | Clock | null;
  illegal_move?: "lose" | "refuse" | null;
  reversible_moves?: number | null;
  max_turns?: number | null;
}

/** A request to begin a version 2 session, or to name another player for the rest of it, by id or name. */
export interface HelloFields extends Fields {
  protocol?: Id;
  client?: string;
  name?: string | null;
  password?: string | null;
  spectator_key?: string | null;
}

/** A request that only checks that the server answers. */
export interface PingFields extends Fields {
}

/** A request for a new game; with pgn as GameFromPgn. A null seat goes to the first who joins. */
export interface NewGameFields extends GameFields {
  player_white: Id | null;
  player_black: Id | null;
  pgn?: string | null;
}

/** A request for a new game from the end of a PGN's main line. */
export interface GameFromPgnFields extends GameFields {
  player_white: Id | null;
  player_black: Id | null;
  pgn: string;
}

/** A request to move, in SAN or UCI; in rbc, null passes. */
export interface MoveFields extends Fields {
  game_id: Id;
  move: string | null;
  seat?: Color | null;
  /** The ply_index acted on; with it, a repeated request acts only once. */
  ply?: Id | null;
  /** Seconds that the player took, for a clock with lag. */
  thought?: number | null;
  offer_draw?: boolean;
}

/** A request to sense the three by three squares around square (a name, or a1 = 0 to h8 = 63); null for none. */
export interface SenseFields extends Fields {
  game_id: Id;
  square: string | Id | null;
  seat?: Color | null;
  /** The ply_index acted on; with it, a repeated request acts only once. */
  ply?: Id | null;
  /** Seconds that the player took, for a clock with lag. */
  thought?: number | null;
}

/** A request to resign, to claim a draw, or to agree to a draw. */
export interface EndGameFields extends Fields {
  game_id: Id;
  termination: VoluntaryTermination;
  seat?: Color | null;
  /** The ply_index acted on; with it, a repeated request acts only once. */
  ply?: Id | null;
  /** Seconds that the player took, for a clock with lag. */
  thought?: number | null;
}

/** A request for a game's state, as player may see it. */
export interface StateFields extends Fields {
  game_id: Id;
  seat?: Color | null;
  actions?: boolean;
}

/** A request that blocks until the player must act in one of the games, or one is over. */
export interface WaitFields extends Fields {
  game_id?: Id | null;
  game_ids?: Id[] | null;
  any?: boolean;
  except?: Id[];
  seat?: Color | null;
  /** The ply_index acted on; with it, a repeated request acts only once. */
  ply?: Id | null;
  timeout?: number | null;
  actions?: boolean;
}

/** A request for the moves, and in rbc the senses, that the player may make now. */
export interface ActionsFields extends Fields {
  game_id: Id;
  seat?: Color | null;
}

/** A request for a page of games, newest first. */
export interface GamesFields extends Fields {
  status?: GameStatus | null;
  variant?: Variant | null;
  limit?: number;
  before?: Id | null;
}

/** A request for the whole game as PGN and as UCI moves. */
export interface HistoryFields extends Fields {
  game_id: Id;
}

/** A request to register a player. Repeated with the same name and token, it shows the same player. */
export interface RegisterFields extends Fields {
  name: string;
  password?: string | null;
  token?: string | null;
}

/** A request for a new key for the player; the operator may send its name instead of the id. */
export interface RekeyFields extends Fields {
  name?: string | null;
  token?: string | null;
}

/** A request to take a seat: an open one, or one that the player was invited to. */
export interface JoinFields extends Fields {
  game_id: Id;
  seat?: Color | null;
}

/** The operator's request to revoke a player's key and password, and to end its sessions. */
export interface RevokeFields extends Fields {
  name?: string | null;
}

/** The operator's request for a page of registered players, newest first; with here, only those who are here. */
export interface PlayersFields extends Fields {
  here?: boolean;
  limit?: number;
  before?: Id | null;
}

/** A request to invite a registered player who is here, by name or id, to a game. */
export interface ChallengeFields extends GameFields {
  opponent: Id | string;
  /** The colour that the player wants; without it, it is drawn. */
  color?: Color | null;
}

/** A request for a game with any player who seeks the same game. If there is none, the player waits for one. */
export interface SeekFields extends GameFields {
  /** The colour that the player wants; without it, it is drawn. */
  color?: Color | null;
}

/**
 * A request for a page of the invitations that wait for an answer: those sent by the player, and those to it.
 * received_after and sent_after are the values from the previous page; without them, both lists start again.
 */
export interface InvitationsFields extends Fields {
  limit?: number;
  received_after?: string | null;
  sent_after?: string | null;
}

/** A request to take the seat that is kept for the player. */
export interface AcceptFields extends Fields {
  game_id: Id;
}

/** A request to call off a game that has not begun; without game_id, to stop seeking. */
export interface DeclineFields extends Fields {
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
  version?: number | null;
}

/** The operator's request to create a game between two registered players who are here, and to invite both. */
export interface PairFields extends GameFields {
  white: Id | string;
  black: Id | string;
  /** Whether the game counts for the ratings. */
  ranked?: boolean;
}

/** A request for a page of the leaderboard, the strongest first: limit rows after the place after. */
export interface LeaderboardFields extends Fields {
  limit?: number;
  after?: Id;
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
  protocol: number;
  server: string;
  kinds: string[];
  player: Id | null;
  limits: Limits;
}

/** The new game, or the one created before with the same token. */
export interface NewGameReply extends Reply {
  game_id: number;
  state: GameState;
  options: Options;
}

/** The UCI moves and, in rbc, the squares to sense; null if it is not the seat's turn. */
export interface ActionsReply extends Reply {
  sense_actions: string[] | null;
  move_actions: string[] | null;
}

/** A page of games, and the before to send for the next page; null at the end. */
export interface GamesReply extends Reply {
  games: GameRow[];
  before: number | null;
}

/** The full PGN with headers, and the moves in UCI. In rbc, history is the game as reconchess saves it. */
export interface HistoryReply extends Reply {
  pgn: string;
  moves: string[];
  history?: Record<string, unknown> | null;
}

/** The seat that the player has taken, or had already, and the game. names is left out if no player is registered. */
export interface JoinReply extends Reply {
  seat: Color;
  state: GameState;
  options: Options;
  names?: PlayerNames;
}

/** A player and its key; the key is null in the reply to a repeated request if it was used already. */
export interface KeyReply extends Reply {
  player: number;
  name: string;
  key: string | null;
}

/** The player whose key was revoked. */
export interface PlayerReply extends Reply {
  player: number;
  name: string;
}

/** A page of players, and the before to send for the next page; null at the end. */
export interface PlayersReply extends Reply {
  players: PlayerRow[];
  before: number | null;
}

/** The game in which the player has a seat; all fields are null while a seek waits. */
export interface SeatReply extends Reply {
  game_id: number | null;
  seat: Color | null;
  state: GameState | null;
  options: Options | null;
}

/**
 * A page of the invitations to the player and of those that it has sent; and whether it seeks an opponent.
 * received_after and sent_after are to be sent for the next page; each is left out at the end of its list.
 */
export interface InvitationsReply extends Reply {
  received: InvitationRow[];
  sent: InvitationRow[];
  seeking: boolean;
  received_after?: string;
  sent_after?: string;
}

/** The settings of a registered player. */
export interface SettingsReply extends Reply {
  player: number;
  name: string;
  max_games: number;
  ranked: boolean;
  version: number;
}

/**
 * The game that two players were invited to; accepted has the sides that have accepted, called_off the side that has
 * called it off, or null.
 */
export interface PairReply extends Reply {
  game_id: number;
  accepted: Color[];
  called_off: Color | null;
  state: GameState;
  options: Options;
}

/**
 * A page of the leaderboard; the after to send for the next page, null at the end; and the number of games that the
 * ratings are computed from.
 */
export interface LeaderboardReply extends Reply {
  leaderboard: LeaderboardRow[];
  after: number | null;
  games: number;
}

/** The result of a sense; empty if nothing was sensed. */
export interface SenseReply extends Reply {
  sense_result: SenseResult;
  state: GameState;
}

/** The game. */
export interface StateReply extends Reply {
  state: GameState;
}

/** The game, with the actions if requested, and with names if a player is registered. */
export interface StateActionsReply extends Reply {
  state: GameState;
  sense_actions?: string[] | null;
  move_actions?: string[] | null;
  names?: PlayerNames;
}

/** The game in which the player is to act, or which is over; a state of null if no game needs the player yet. */
export interface WaitReply extends Reply {
  state: GameState | null;
  game_id?: number;
  sense_actions?: string[] | null;
  move_actions?: string[] | null;
}

/** The game declined; a state of null where there was no game. */
export interface DeclineReply extends Reply {
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
  state: GameState;
  requested_move?: string | null;
  taken_move?: string | null;
  capture_square?: string | null;
}
