// The types of the client, and what everything does. PROTOCOL is the reference of all kinds, fields and codes.

/** An id. Those beyond 2**53 - 1 are BigInts in replies, and must be in requests. */
export type Id = number | bigint;

export type Color = "white" | "black";
export type Piece = `${"w" | "b"}${"p" | "R" | "N" | "B" | "Q" | "K"}`;
export type Variant = "standard" | "chess960" | "crazyhouse" | "rbc" | (string & {});

/** A square's name, or its number: a1 is 0, h8 is 63. */
export type Square = string | number;

/** What was seen: squares with what stands on them. */
export type SenseResult = [square: string, piece: Piece | null][];

export type Termination =
  | "available_move"
  | "victory_white"
  | "victory_black"
  | "stalemate"
  | VoluntaryTermination
  | "timeout_white"
  | "timeout_black"
  | "forfeit_white"
  | "forfeit_black"
  | "draw_repetition"
  | "draw_fifty_moves"
  | "draw_material"
  | "draw_move_limit"
  | "draw_turn_limit"
  | (string & {});

export type VoluntaryTermination =
  | "taken_draw_white"
  | "taken_draw_black"
  | "resignation_white"
  | "resignation_black"
  | "draw_agreed";

/** The state of a game, as the one who asks may see it. What `brief` leaves out is optional here. */
export interface GameState {
  /** Rank 1 is the first array, file a its first element. */
  board?: (Piece | null)[][];
  /** For each square, the (rank, file) of every piece that could move to it. */
  access_map?: [rank: number, file: number][][][];
  pgn?: string | null;
  available_castles: number;
  passant_file: number;
  ply_index: number;
  fen: string;
  draws: number;
  termination: Termination;
  in_check: boolean;
  game_id: number;
  variant: Variant;
  player_white: Id | null;
  player_black: Id | null;
  start_fen: string;
  turn: Color;
  /** "open" while not both seats are taken. */
  phase: "open" | "sense" | "move" | "over" | null;
  result: "1-0" | "0-1" | "1/2-1/2" | "*";
  /** Seconds. */
  clock: { white: number | null; black: number | null } | null;
  draw_offered: boolean;
  last_move: string | null;
  /** Crazyhouse only. */
  pockets?: { white: string; black: string };
  /** Reconnaissance blind chess only, and so are the next two. */
  opponent_capture?: string | null;
  last_sense?: { ply: number; square: string | null; sense_result: SenseResult } | null;
  last_result?: {
    ply: number;
    requested_move: string | null;
    taken_move: string | null;
    capture_square: string | null;
  } | null;
  [field: string]: unknown;
}

export interface Options {
  variant: Variant;
  fen: string;
  position: number | null;
  draws: "claimed" | "automatic" | null;
  max_moves: number | null;
  clock: Clock | null;
  illegal_move: "refuse" | "lose" | null;
  [field: string]: unknown;
}

/** Seconds. */
export type Clock = ({ initial: number; increment?: number } | { first_move: number; per_move: number }) & {
  margin?: number;
  lag?: number;
};

/** A row of the reply to `games`. */
export interface GameRow {
  game_id: number;
  variant: Variant;
  player_white: Id | null;
  player_black: Id | null;
  status: "live" | "over" | "open";
  turn: Color;
  ply_index: number;
  termination: Termination;
  result: string;
  created: string;
  changed: string;
  [field: string]: unknown;
}

// Requests.

/** What a request of any kind may have. */
export interface Fields {
  id?: string | number;
  brief?: boolean;
  player?: Id | null;
  key?: string;
}

/** What names a seat in a game. */
export interface SeatFields extends Fields {
  game_id: Id;
  seat?: Color;
}

export interface HelloFields extends Fields {
  protocol?: number;
  client?: string;
  name?: string;
  password?: string;
  spectator_key?: string;
}

/** What a new game is played with. */
export interface GameFields extends Fields {
  variant?: Variant;
  fen?: string;
  position?: number;
  seed?: Id;
  draws?: "claimed" | "automatic";
  max_moves?: number | null;
  /** Or its usual text, such as "180+2". */
  clock?: Clock | string | null;
  illegal_move?: "refuse" | "lose";
  reversible_moves?: number | null;
  max_turns?: number | null;
  /** One is made up where there is none, so that a lost reply makes no second game. */
  token?: string;
}

/** A seat that is null is open to whoever joins first; a registered player other than one's own is invited. */
export interface NewGameFields extends GameFields {
  player_white: Id | null;
  player_black: Id | null;
  pgn?: string;
}

export interface SeekFields extends GameFields {
  /** What the player wants to play. */
  color?: Color;
}

export interface ChallengeFields extends SeekFields {
  /** A registered player's name or id. */
  opponent: string | Id;
}

export interface PairFields extends GameFields {
  /** Registered players' names or ids. */
  white: string | Id;
  black: string | Id;
  /** Whether it counts for their ratings. */
  ranked?: boolean;
}

export interface InvitationsFields extends Fields {
  /** Rows of each list, 100 at most. */
  limit?: number;
  /** What the page before said under the same name. */
  received_after?: string;
  sent_after?: string;
}

export interface SettingsFields extends Fields {
  /** How many games the player takes at a time. */
  max_games?: number;
  /** Whether it wants ranked games. */
  ranked?: boolean;
  /** The version of its bot, or the next one. */
  version?: number;
}

/** With `ply`, the `ply_index` acted on, an action is sent again after a lost connection; without, it is rejected. */
export interface ActionFields extends SeatFields {
  ply?: number;
  /** How many seconds it took, for a clock with `lag`. */
  thought?: number;
}

export interface MoveFields extends ActionFields {
  /** SAN or UCI; in reconnaissance blind chess UCI, or null to pass. */
  move: string | null;
  offer_draw?: boolean;
}

export interface SenseFields extends ActionFields {
  /** The square in the middle, or null to sense nothing. */
  square: Square | null;
}

export interface EndGameFields extends ActionFields {
  termination: VoluntaryTermination;
}

export interface StateFields extends SeatFields {
  actions?: boolean;
}

export interface WaitFields extends Fields {
  game_id?: Id;
  game_ids?: Id[];
  any?: true;
  except?: Id[];
  seat?: Color;
  ply?: number;
  /** Seconds. */
  timeout?: number;
  actions?: boolean;
}

export interface GamesFields extends Fields {
  status?: "live" | "over" | "open";
  variant?: Variant;
  limit?: number;
  before?: Id | null;
}

/** Which seat is chosen where it is not named: that of one's invitation, else one that is open, white's first. */
export type JoinFields = SeatFields;

export interface RegisterFields extends Fields {
  name: string;
  password?: string;
  /** One is made up where there is none, so that no key is lost with a reply. Secret and random: it is worth the key. */
  token?: string;
}

export interface RekeyFields extends Fields {
  /** The operator's way to name a player. */
  name?: string;
  /** As in a registration; another each time. */
  token?: string;
}

/** The operator's: a player, by id or by name. */
export interface RevokeFields extends Fields {
  name?: string;
}

/** The operator's. */
export interface PlayersFields extends Fields {
  /** Only those who are here. */
  here?: boolean;
  limit?: number;
  before?: number | null;
}

export interface LeaderboardFields extends Fields {
  /** How many rows. */
  limit?: number;
  /** How many to pass over. */
  after?: number;
}

// Replies.

export interface Reply {
  error: null;
  id?: string | number;
  [field: string]: unknown;
}

export interface HelloReply extends Reply {
  protocol: number;
  server: string;
  kinds: string[];
  player: Id | null;
  limits: Limits;
}

export interface Limits {
  /** Longest request, in bytes. */
  max_message: number;
  max_wait_seconds: number;
  /** Requests with a wrong key or password that one address may send. */
  max_failures_per_minute: number;
  max_registrations_per_hour: number;
  max_players: number;
  [limit: string]: number;
}

export interface StateReply extends Reply {
  state: GameState;
}

export interface NewGameReply extends StateReply {
  game_id: number;
  options: Options;
}

export interface Actions {
  sense_actions: string[] | null;
  /** UCI. */
  move_actions: string[] | null;
}

export interface ActionsReply extends Reply, Actions {}

/** What the players of a game are called; null for one who is not registered. */
export interface PlayerNames {
  white: string | null;
  black: string | null;
}

export interface StateActionsReply extends StateReply, Partial<Actions> {
  /** Missing if neither player is registered. */
  names?: PlayerNames;
}

export interface WaitReply extends Reply, Partial<Actions> {
  /** Null if none of several games is due. */
  state: GameState | null;
  game_id?: number;
}

/** Of the fields, those that reconnaissance blind chess adds are there only in it. */
export interface MoveReply extends StateReply {
  requested_move?: string | null;
  taken_move?: string | null;
  capture_square?: string | null;
}

export interface SenseReply extends StateReply {
  sense_result: SenseResult;
}

export interface GamesReply extends Reply {
  games: GameRow[];
  /** What to send as `before` for the next page, or null. */
  before: number | null;
}

export interface HistoryReply extends Reply {
  pgn: string;
  moves: string[];
  history: unknown;
}

export interface JoinReply extends StateReply {
  seat: Color;
  options: Options;
  /** Missing if neither player is registered. */
  names?: PlayerNames;
}

/** All null where a seek waits to be found. */
export interface SeatReply extends Reply {
  game_id: number | null;
  seat: Color | null;
  state: GameState | null;
  options: Options | null;
}

export interface ChallengeReply extends NewGameReply {
  seat: Color;
}

/** A game that two are invited to. */
export interface PairReply extends NewGameReply {
  /** Those who have taken their seats by now. */
  accepted: Color[];
  /** Whose player has declined or withdrawn. */
  called_off: Color | null;
}

/** `state` is null where no game was declined. */
export interface DeclineReply extends Reply {
  state: GameState | null;
}

/** A game that waits for an answer. */
export interface InvitationRow {
  game_id: number;
  opponent: number | null;
  name: string | null;
  /** What the player who asks is to play. */
  color: Color;
  options: Options;
  ranked: boolean;
  created: string;
  /** The seconds it was given to begin in. */
  lapses: number | null;
  [field: string]: unknown;
}

export interface InvitationsReply extends Reply {
  received: InvitationRow[];
  sent: InvitationRow[];
  /** Whether the player waits to be found. */
  seeking: boolean;
  /** Where the page of `received` ended; left out if nothing follows. */
  received_after?: string;
  sent_after?: string;
}

export interface SettingsReply extends Reply {
  player: number;
  name: string;
  max_games: number;
  ranked: boolean;
  version: number;
}

export interface PlayerReply extends Reply {
  player: number;
  name: string;
}

export interface KeyReply extends PlayerReply {
  /** Shown this once. Null where the request was sent before, under the same token, and the key has been used since. */
  key: string | null;
}

/** A registered player, as the operator is shown it. */
export interface PlayerRow {
  player: number;
  name: string;
  /** Whether it has one. */
  password: boolean;
  /** Whether it has no key any more. */
  revoked: boolean;
  here: boolean;
  /** How many more games it takes. */
  room: number;
  created: string;
  [field: string]: unknown;
}

export interface PlayersReply extends Reply {
  players: PlayerRow[];
  /** What to send as `before` for the next page, or null. */
  before: number | null;
}

/** A version of a player's bot. */
export interface LeaderboardRow {
  place: number;
  player: number;
  name: string;
  version: number;
  rating: number;
  /** The standard deviation of the rating. */
  deviation: number;
  /** Whether the rating is given. */
  anchor: boolean;
  games: number;
  wins: number;
  draws: number;
  losses: number;
  [field: string]: unknown;
}

export interface LeaderboardReply extends Reply {
  leaderboard: LeaderboardRow[];
  /** What to send as `after` for the next page, or null. */
  after: number | null;
  /** How many games the ratings are computed from. */
  games: number;
}

// Errors.

/** The server refused a request. `message` is its sentence. */
export class GmError extends Error {
  constructor(reply: object, kind: string);
  readonly name: "GmError";
  /** The protocol's word for what is wrong: `illegal_move`, `not_your_turn`, and so on. */
  readonly code: string;
  /** The kind of the request. */
  readonly kind: string;
  /** With `too_many`: in how many seconds to try again. */
  readonly retry_after: number | null;
  readonly reply: { error: string; code: string; [field: string]: unknown };
}

/** There is no connection, and trying again has not helped or is not allowed. */
export class ConnectionLost extends Error {
  constructor(message: string, options?: { cause?: unknown; sent?: boolean });
  readonly name: "ConnectionLost";
  /** Whether the server may have carried out the request. */
  readonly sent: boolean;
}

/** What came is no reply of a gm server. */
export class BadReply extends Error {
  constructor(message: string, options?: { cause?: unknown });
  readonly name: "BadReply";
}

// The client.

export interface ConnectOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 7100. */
  port?: number;
  /** A Unix socket, in place of host and port. */
  path?: string;
  /** True, or options of node:tls's `connect`. Default false. */
  tls?: boolean | TlsOptions;
  /** The default player of the requests. */
  player?: Id | null;
  /** A registered player's name, in place of its id. */
  name?: string;
  /** A registered player's key. */
  key?: string;
  /** A registered player's password, in place of its key; goes with its name. */
  password?: string;
  /** Shows games of blind chess that are on, on a server that has such a key. */
  spectator_key?: string;
  /** What the server is told this program is. */
  client?: string;
  /** Seconds for which a lost connection is tried again. Default 60. */
  patience?: number;
}

/** Some of them; all are allowed. */
export interface TlsOptions {
  ca?: string | Uint8Array | (string | Uint8Array)[];
  cert?: string | Uint8Array;
  key?: string | Uint8Array;
  servername?: string;
  rejectUnauthorized?: boolean;
  [option: string]: unknown;
}

/**
 * Connects and says hello. That is tried once: rejects with ConnectionLost, or with GmError where the server refuses.
 *
 * Later losses of the connection are made good: the client connects anew for up to `patience` seconds, and sends again
 * what was not answered, as the same player. Only a request that might then be carried out twice is rejected instead,
 * with ConnectionLost and `sent: true`: a `move`, `sense` or `end_game` without `ply`.
 */
export function connect(options?: ConnectOptions): Promise<Client>;

/**
 * A session. Every kind of message is a method of its name, which takes the fields of the request and gives the reply,
 * or rejects with GmError.
 *
 * Requests may be made without waiting for the replies to those before; replies come in the order of the requests.
 * (Have one action of a seat under way at a time: only a seat's latest can be sent again.)
 *
 * It keeps the process alive until it is closed.
 */
export class Client {
  /** As `connect`, but connects when the first request is made. */
  constructor(options?: ConnectOptions);

  /** From the server's latest hello. */
  readonly server: string | null;
  readonly protocol: number | null;
  readonly kinds: string[];
  readonly limits: Partial<Limits>;
  readonly player: Id | null;

  /** Makes one attempt to connect. Nobody needs to call it: a request connects. */
  open(): Promise<void>;

  /** Ends the session, and the loops of `turns`. Requests without a reply are rejected with ConnectionLost. */
  close(): void;

  /** A request of any kind, for those that have no method here. */
  request(kind: string, fields?: object): Promise<Reply>;

  /** Names another player for the requests that follow, and for the connections that follow. */
  hello(fields?: HelloFields): Promise<HelloReply>;
  ping(fields?: Fields): Promise<Reply>;
  new_game(fields: NewGameFields): Promise<NewGameReply>;
  game_from_pgn(fields: NewGameFields & { pgn: string }): Promise<NewGameReply>;
  move(fields: MoveFields): Promise<MoveReply>;
  sense(fields: SenseFields): Promise<SenseReply>;
  end_game(fields: EndGameFields): Promise<StateReply>;
  state(fields: StateFields): Promise<StateActionsReply>;
  wait(fields: WaitFields): Promise<WaitReply>;
  actions(fields: SeatFields): Promise<ActionsReply>;
  games(fields?: GamesFields): Promise<GamesReply>;
  history(fields: Fields & { game_id: Id }): Promise<HistoryReply>;
  register(fields: RegisterFields): Promise<KeyReply>;
  /**
   * Another key for the session's player. This client goes on with it, and so do its loops of `turns`; other sessions
   * that began with the old one are void.
   */
  rekey(fields?: RekeyFields): Promise<KeyReply>;
  /** Takes a seat; or shows the game again to whoever has it. */
  join(fields: JoinFields): Promise<JoinReply>;
  /** Invites a registered player who is here to a game in which one's own seat is taken. */
  challenge(fields: ChallengeFields): Promise<ChallengeReply>;
  /** A game with whoever seeks one like it; else waits to be found, as long as this connection lasts. */
  seek(fields?: SeekFields): Promise<SeatReply>;
  /** A page of the invitations that wait for an answer. */
  invitations(fields?: InvitationsFields): Promise<InvitationsReply>;
  /** Takes the seat that the player was invited to. */
  accept(fields: Fields & { game_id: Id }): Promise<JoinReply>;
  /** Calls off a game that has not begun; without one, seeks no longer. */
  decline(fields?: Fields & { game_id?: Id }): Promise<DeclineReply>;
  /** What the player has set, having set what is given. */
  settings(fields?: SettingsFields): Promise<SettingsReply>;
  /** A page of the ratings that ranked games have come to, the strongest first. */
  leaderboard(fields?: LeaderboardFields): Promise<LeaderboardReply>;
  /** The operator's: takes a player's key and password away, and ends its sessions. */
  revoke(fields: RevokeFields): Promise<PlayerReply>;
  /** The operator's: a game of two registered players who are here; both are invited. */
  pair(fields: PairFields): Promise<PairReply>;
  /** The operator's: the registered players, newest first. */
  players(fields?: PlayersFields): Promise<PlayersReply>;

  /**
   * The turns of the player in one game, until it is over; or, without `game_id`, in all its games, new ones too, for
   * as long as one asks. Waits between them, on a connection of its own, so that loops may run side by side.
   *
   *     for await (const turn of client.turns({ game_id })) await turn.move(think(turn.state));
   *
   * A turn comes again as long as nothing was done in it.
   */
  turns(fields?: TurnsFields): AsyncGenerator<Turn, void, undefined>;
}

export interface TurnsFields {
  game_id?: Id;
  player?: Id;
  key?: string;
  seat?: Color;
  brief?: boolean;
  /** Called with the last state of each game that has ended, once. */
  over?: (state: GameState) => void;
  /**
   * Without `game_id`: whether to join a game that the player is invited to. By default it joins all. The first hundred
   * that it does not join stand, and may be joined later; those beyond are declined, which ends them.
   */
  invited?: (state: GameState) => boolean | Promise<boolean>;
}

/**
 * One turn. What is done in it is safe to send again, and is after a lost connection. If the game has ended while the
 * bot thought (the opponent resigned, the clock ran out), doing something is no error: it does nothing, and its reply
 * has the last state.
 */
export class Turn {
  private constructor();

  readonly game_id: number;
  /** The player's color. */
  readonly color: Color;
  /** The latest state the player has seen. */
  readonly state: GameState;
  /** Where the player may sense; null where there is nothing to sense, or it is done. */
  readonly sense_actions: string[] | null;
  /** How the player may move, in UCI. */
  readonly move_actions: string[];

  sense(square: Square | null): Promise<SenseReply>;
  /** Outside of reconnaissance blind chess, the reply's `taken_move` and `capture_square` are null. */
  move(move: string | null, options?: { offer_draw?: boolean }): Promise<Required<MoveReply>>;
  end_game(termination: VoluntaryTermination): Promise<StateReply>;
  resign(): Promise<StateReply>;
}

// The wire, for those who want it bare.

/** Longest reply taken, in bytes. */
export const MAX_REPLY: number;

/** A message with its header before it. */
export function encodeFrame(body: Uint8Array): Uint8Array;

/** Cuts a stream of bytes into messages. */
export class FrameDecoder {
  /** @param limit longest message taken, in bytes */
  constructor(limit?: number);
  /** Bytes that no message has been made of yet. */
  readonly pending: number;
  /** Adds bytes, cut anywhere. */
  feed(chunk: Uint8Array): void;
  /** The next whole message, or null. Throws BadReply at a length out of range. */
  next(): Uint8Array | null;
}

/** The JSON of a request, in UTF-8. */
export function encode(request: object): Uint8Array;

/** The JSON object in a message. Throws BadReply where there is none. */
export function decode(body: Uint8Array): Record<string, unknown>;
