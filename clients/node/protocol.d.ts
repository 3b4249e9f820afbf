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
 * overstep its time and not lose; lag how much of the time until a request arrives a client may say was not the
 * player's.
 */
export interface Clock {
  initial?: number;
  increment?: number;
  first_move?: number;
  per_move?: number;
  margin?: number;
  lag?: number;
}

/** Every limit that can refuse or end something. */
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
 * A game as one viewer may see it. The first ten fields are version 1's. board, access_map and pgn are left out of
 * the replies to brief requests; pockets is there in crazyhouse alone, the three fields behind it in rbc alone, and
 * visible in dark_chess alone.
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

/** Seconds each side has left, null where hidden; the side to move's count down in this very moment. */
export interface ClockState {
  white: number | null;
  black: number | null;
  [field: string]: unknown;
}

/** Crazyhouse: the pieces each side holds in hand, most valuable first (White's in capitals). */
export interface Pockets {
  white: string;
  black: string;
  [field: string]: unknown;
}

/** A seat's latest sense: at which ply, around which square (null: none), and what it showed. */
export interface LastSense {
  ply: number;
  square: string | null;
  sense_result: SenseResult;
  [field: string]: unknown;
}

/** A seat's latest move: at which ply, what it asked for, what came of it (null: nothing), and where it captured. */
export interface LastResult {
  ply: number;
  requested_move: string | null;
  taken_move: string | null;
  capture_square: string | null;
  [field: string]: unknown;
}

/** The options of a game as the server resolved them; those its variant does not have are left out. */
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

/** What the players of a game are called; null for one without a name: an open player, or a seat nobody has. */
export interface PlayerNames {
  white: string | null;
  black: string | null;
  [field: string]: unknown;
}

/**
 * A game as a listing shows it. Both times are UTC, as in 2026-11-21T04:41:00Z. changed is when the game last went
 * on: began, or was moved in, or ended.
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
 * A registered player as the operator is shown it. revoked: it has no key. here: it may be expected to answer. room:
 * how many more games it takes.
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
 * A game that waits for an answer, as one of the two is shown it. opponent is the other one, or null where that seat
 * is open; name its name, where it is registered; color what the player that asks is to play. lapses is how many
 * seconds it was given to begin in, or null.
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

/** A version of a player's bot. deviation is the standard deviation of its rating; anchor: that is given. */
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

/** Begins a version 2 session, or names another player for the rest of it: an id, or a registered name. */
export interface HelloFields extends Fields {
  protocol?: Id;
  client?: string;
  name?: string | null;
  password?: string | null;
  spectator_key?: string | null;
}

/** Is anybody there? */
export interface PingFields extends Fields {
}

/** Starts a game. With pgn it is GameFromPgn. A seat that is null is open to whoever joins first. */
export interface NewGameFields extends GameFields {
  player_white: Id | null;
  player_black: Id | null;
  pgn?: string | null;
}

/** Starts a game at the end of a PGN's main line. */
export interface GameFromPgnFields extends GameFields {
  player_white: Id | null;
  player_black: Id | null;
  pgn: string;
}

/** A move in SAN or UCI; null, in rbc, to pass. */
export interface MoveFields extends Fields {
  game_id: Id;
  move: string | null;
  seat?: Color | null;
  /** The ply_index acted on: sent again with it, a request acts once. */
  ply?: Id | null;
  /** Seconds that the player took, for a clock with lag. */
  thought?: number | null;
  offer_draw?: boolean;
}

/** A look at the window of three by three squares around square (named, or a1 = 0 to h8 = 63); null for none. */
export interface SenseFields extends Fields {
  game_id: Id;
  square: string | Id | null;
  seat?: Color | null;
  /** The ply_index acted on: sent again with it, a request acts once. */
  ply?: Id | null;
  /** Seconds that the player took, for a clock with lag. */
  thought?: number | null;
}

/** A resignation, a draw claimed, or a draw agreed to. */
export interface EndGameFields extends Fields {
  game_id: Id;
  termination: VoluntaryTermination;
  seat?: Color | null;
  /** The ply_index acted on: sent again with it, a request acts once. */
  ply?: Id | null;
  /** Seconds that the player took, for a clock with lag. */
  thought?: number | null;
}

/** The state as player may see it. */
export interface StateFields extends Fields {
  game_id: Id;
  seat?: Color | null;
  actions?: boolean;
}

/** Blocks until the player is to act in one of the games, or that game is over. */
export interface WaitFields extends Fields {
  game_id?: Id | null;
  game_ids?: Id[] | null;
  any?: boolean;
  except?: Id[];
  seat?: Color | null;
  /** The ply_index acted on: sent again with it, a request acts once. */
  ply?: Id | null;
  timeout?: number | null;
  actions?: boolean;
}

/** What the player may do now. */
export interface ActionsFields extends Fields {
  game_id: Id;
  seat?: Color | null;
}

/** A page of games, newest first. */
export interface GamesFields extends Fields {
  status?: GameStatus | null;
  variant?: Variant | null;
  limit?: number;
  before?: Id | null;
}

/** The whole game as PGN and as UCI moves. */
export interface HistoryFields extends Fields {
  game_id: Id;
}

/** Makes a registered player. The same name and token again show the same player. */
export interface RegisterFields extends Fields {
  name: string;
  password?: string | null;
  token?: string | null;
}

/** Gives the player another key; the operator may give its name in place of the id. */
export interface RekeyFields extends Fields {
  name?: string | null;
  token?: string | null;
}

/** Takes a seat that the player was invited to, or an open one. */
export interface JoinFields extends Fields {
  game_id: Id;
  seat?: Color | null;
}

/** The operator's: takes a player's key and password away, and ends its sessions. */
export interface RevokeFields extends Fields {
  name?: string | null;
}

/** The operator's: a page of registered players, newest first; with here of those who are here. */
export interface PlayersFields extends Fields {
  here?: boolean;
  limit?: number;
  before?: Id | null;
}

/** Invites a registered player who is here, by name or id, to a game. Without color that is drawn. */
export interface ChallengeFields extends GameFields {
  opponent: Id | string;
  /** What the player wants to play; it is drawn otherwise. */
  color?: Color | null;
}

/** Makes a game with whoever waits for one like it; where nobody does, waits for somebody to do so. */
export interface SeekFields extends GameFields {
  /** What the player wants to play; it is drawn otherwise. */
  color?: Color | null;
}

/**
 * A page of the invitations that wait for an answer: the player's own, and those to the player. The last two are what
 * the page before said of the same name; without them both lists begin anew.
 */
export interface InvitationsFields extends Fields {
  limit?: number;
  received_after?: string | null;
  sent_after?: string | null;
}

/** Takes the seat that is kept for the player. */
export interface AcceptFields extends Fields {
  game_id: Id;
}

/** Calls off a game that has not begun; without game_id, the player seeks no longer. */
export interface DeclineFields extends Fields {
  game_id?: Id | null;
}

/** Shows what a registered player has set, having set what is given. version is the one it has, or the next. */
export interface SettingsFields extends Fields {
  /** How many games the player takes at a time. */
  max_games?: number | null;
  /** Whether the player wants ranked games. */
  ranked?: boolean | null;
  version?: number | null;
}

/** The operator's: makes a game between two registered players who are here, and invites both. */
export interface PairFields extends GameFields {
  white: Id | string;
  black: Id | string;
  /** Whether the game counts for the ratings. */
  ranked?: boolean;
}

/** A page of the leaderboard, the strongest first: so many rows behind the place after. */
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

/** What this server is and can. */
export interface HelloReply extends Reply {
  protocol: number;
  server: string;
  kinds: string[];
  player: Id | null;
  limits: Limits;
}

/** The game made, or the one made before under the same token. */
export interface NewGameReply extends Reply {
  game_id: number;
  state: GameState;
  options: Options;
}

/** UCI moves, and in rbc squares to sense, on the seat's turn; null off it. */
export interface ActionsReply extends Reply {
  sense_actions: string[] | null;
  move_actions: string[] | null;
}

/** A page of rows, and what to send as before for the next one; null at the end. */
export interface GamesReply extends Reply {
  games: GameRow[];
  before: number | null;
}

/** Full PGN with headers, and the moves in UCI. history is, in rbc, the game as reconchess saves it. */
export interface HistoryReply extends Reply {
  pgn: string;
  moves: string[];
  history?: Record<string, unknown> | null;
}

/** The seat taken, or held already, and the game. names is left out where no player is registered. */
export interface JoinReply extends Reply {
  seat: Color;
  state: GameState;
  options: Options;
  names?: PlayerNames;
}

/** A player and its key; null where a repeated request finds the key used: then somebody has it. */
export interface KeyReply extends Reply {
  player: number;
  name: string;
  key: string | null;
}

/** The player who has no key any more. */
export interface PlayerReply extends Reply {
  player: number;
  name: string;
}

/** A page of players, and what to send as before for the next one; null at the end. */
export interface PlayersReply extends Reply {
  players: PlayerRow[];
  before: number | null;
}

/** The game in which the player has its seat; all null while a seek waits. */
export interface SeatReply extends Reply {
  game_id: number | null;
  seat: Color | null;
  state: GameState | null;
  options: Options | null;
}

/**
 * A page of what waits for the player's answer and of what for another's; and whether it seeks an opponent. The last
 * two are what to ask for the next page with; each is left out where nothing follows.
 */
export interface InvitationsReply extends Reply {
  received: InvitationRow[];
  sent: InvitationRow[];
  seeking: boolean;
  received_after?: string;
  sent_after?: string;
}

/** What a registered player has set. */
export interface SettingsReply extends Reply {
  player: number;
  name: string;
  max_games: number;
  ranked: boolean;
  version: number;
}

/** The game that two players were invited to: who has accepted by now, and who has called_off the game. */
export interface PairReply extends Reply {
  game_id: number;
  accepted: Color[];
  called_off: Color | null;
  state: GameState;
  options: Options;
}

/** A page, what to send as after for the next one, null at the end; and how many games the ratings are of. */
export interface LeaderboardReply extends Reply {
  leaderboard: LeaderboardRow[];
  after: number | null;
  games: number;
}

/** What the sense showed: none of the squares where nothing was sensed. */
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
