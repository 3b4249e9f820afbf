// The types of the client, and what everything does; those of the messages are in protocol.d.ts.

import type {
  AcceptFields,
  ActionsFields,
  ActionsReply,
  ChallengeFields,
  ChallengeReply,
  Color,
  DeclineFields,
  DeclineReply,
  EndGameFields,
  Fields,
  GameFromPgnFields,
  GameState,
  GamesFields,
  GamesReply,
  HelloFields,
  HelloReply,
  HistoryFields,
  HistoryReply,
  Id,
  InvitationsFields,
  InvitationsReply,
  JoinFields,
  JoinReply,
  KeyReply,
  LeaderboardFields,
  LeaderboardReply,
  Limits,
  MoveFields,
  MoveReply,
  NewGameFields,
  NewGameReply,
  PairFields,
  PairReply,
  PlayerReply,
  PlayersFields,
  PlayersReply,
  RegisterFields,
  RekeyFields,
  Reply,
  RevokeFields,
  SeatReply,
  SeekFields,
  SenseFields,
  SenseReply,
  SettingsFields,
  SettingsReply,
  StateActionsReply,
  StateFields,
  StateReply,
  VoluntaryTermination,
  WaitFields,
  WaitReply,
} from "./protocol.js";

export * from "./protocol.js";

/** A square's name, or its number: a1 is 0, h8 is 63. */
export type Square = string | number;

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
  game_from_pgn(fields: GameFromPgnFields): Promise<NewGameReply>;
  move(fields: MoveFields): Promise<MoveReply>;
  sense(fields: SenseFields): Promise<SenseReply>;
  end_game(fields: EndGameFields): Promise<StateReply>;
  state(fields: StateFields): Promise<StateActionsReply>;
  wait(fields: WaitFields): Promise<WaitReply>;
  actions(fields: ActionsFields): Promise<ActionsReply>;
  games(fields?: GamesFields): Promise<GamesReply>;
  history(fields: HistoryFields): Promise<HistoryReply>;
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
  accept(fields: AcceptFields): Promise<JoinReply>;
  /** Calls off a game that has not begun; without one, seeks no longer. */
  decline(fields?: DeclineFields): Promise<DeclineReply>;
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
