// The types of the client, with their documentation; those of the messages are in protocol.d.ts.

import type {
  Color,
  GameState,
  Id,
  Limits,
  MoveReply,
  Reply,
  Requests,
  SenseReply,
  StateReply,
  VoluntaryTermination,
} from "./protocol.js";

export * from "./protocol.js";

/** A square's name, or its number: a1 is 0, h8 is 63. */
export type Square = string | number;

// Errors.

/** The server refused a request. `message` is the server's sentence. */
export class GmError extends Error {
  constructor(reply: object, kind: string);
  readonly name: "GmError";
  /** The protocol's code for the error: `illegal_move`, `not_your_turn`, and so on. */
  readonly code: string;
  /** The kind of the request. */
  readonly kind: string;
  /** With `too_many`: the seconds to wait before the next attempt. */
  readonly retry_after: number | null;
  readonly reply: { error: string; code: string; [field: string]: unknown };
}

/** There is no connection, and retries have failed or are not allowed. */
export class ConnectionLost extends Error {
  constructor(message: string, options?: { cause?: unknown; sent?: boolean });
  readonly name: "ConnectionLost";
  /** Whether the server may have carried out the request. */
  readonly sent: boolean;
}

/** The data received is not a reply of a gm server. */
export class BadReply extends Error {
  constructor(message: string, options?: { cause?: unknown });
  readonly name: "BadReply";
}

// The client.

export interface ConnectOptions {
  /**
   * A server; or several of which one serves, as in "a:7100,[::1]:7101,c". They are tried in turn, from the one that
   * answered last; one that does not answer the hello in five seconds is left for the next. Default 127.0.0.1.
   */
  host?: string;
  /** The port of servers without one. Default 7100. */
  port?: number;
  /** A Unix socket, instead of host and port. */
  path?: string;
  /** True, or options of node:tls's `connect`. Default false. */
  tls?: boolean | TlsOptions;
  /** The default player of the requests. */
  player?: Id | null;
  /** A registered player's name, instead of its id. */
  name?: string;
  /** A registered player's key. */
  key?: string;
  /** A registered player's password, instead of its key; needs `name`. */
  password?: string;
  /** Shows live games of blind chess, on a server that has such a key. */
  spectator_key?: string;
  /** The name and version of this program, as sent to the server. */
  client?: string;
  /** Seconds of retries after a lost connection. Default 60. */
  patience?: number;
}

/** The most common options; all options of `connect` are allowed. */
export interface TlsOptions {
  ca?: string | Uint8Array | (string | Uint8Array)[];
  cert?: string | Uint8Array;
  key?: string | Uint8Array;
  servername?: string;
  rejectUnauthorized?: boolean;
  [option: string]: unknown;
}

/**
 * Connects and says hello, in one attempt. Rejects with ConnectionLost, or with GmError if the server refuses.
 *
 * Later losses of the connection are repaired: the client reconnects for up to `patience` seconds, and sends unanswered
 * requests again, as the same player. Only a request that might then be carried out twice is rejected, with
 * ConnectionLost and `sent: true`: a `move`, `sense` or `end_game` without `ply`.
 */
export function connect(options?: ConnectOptions): Promise<Client>;

/**
 * A session. Every kind of message is a method of the same name, which takes the fields of the request and returns the
 * reply, or rejects with GmError.
 *
 * Requests may be made without waiting for earlier replies; replies come in the order of the requests. (Make only one
 * action of a seat at a time: only a seat's latest action can be sent again.)
 *
 * It keeps the process alive until it is closed.
 */
export interface Client extends Requests {}
export class Client {
  /** Takes the options of `connect`; connects with the first request. */
  constructor(options?: ConnectOptions);

  /** From the server's latest hello. */
  readonly server: string | null;
  readonly protocol: number | null;
  readonly kinds: string[];
  readonly limits: Partial<Limits>;
  readonly player: Id | null;

  /** Connects, in one attempt. Calling this is optional: a request connects. */
  open(): Promise<void>;

  /** Ends the session, and the loops of `turns`. Rejects unanswered requests with ConnectionLost. */
  close(): void;

  /** Sends a request of any kind, also one without a method here. */
  request(kind: string, fields?: object): Promise<Reply>;

  /**
   * The turns of the player in one game, until it is over; or, without `game_id`, in all its games, also those that
   * begin later, until the loop is left. It waits between turns, on a connection of its own, so that loops may run
   * concurrently.
   *
   *     for await (const turn of client.turns({ game_id })) await turn.move(think(turn.state));
   *
   * A turn without an action comes again.
   */
  turns(fields?: TurnsFields): AsyncGenerator<Turn, void, undefined>;
}

export interface TurnsFields {
  game_id?: Id;
  player?: Id;
  key?: string;
  seat?: Color;
  brief?: boolean;
  /** Called once with the last state of each game that has ended. */
  over?: (state: GameState) => void;
  /**
   * Without `game_id`: whether to join a game that the player is invited to. By default it joins all. The first hundred
   * invitations that it does not join remain open, and may be accepted later; any further ones are declined, which ends
   * them.
   */
  invited?: (state: GameState) => boolean | Promise<boolean>;
}

/**
 * One turn. Its actions are safe to send again, and the client does so after a lost connection. If the game has ended
 * while the bot was thinking (the opponent resigned, the time ran out), an action is not an error: it does nothing, and
 * its reply has the last state.
 */
export class Turn {
  private constructor();

  readonly game_id: number;
  /** The player's color. */
  readonly color: Color;
  /** The latest state that the player has seen. */
  readonly state: GameState;
  /** The squares that the player may sense; null if there is no sense in this turn, or after it. */
  readonly sense_actions: string[] | null;
  /** The moves that the player may make, in UCI. */
  readonly move_actions: string[];

  sense(square: Square | null): Promise<SenseReply>;
  /** Outside of reconnaissance blind chess, the reply's `taken_move` and `capture_square` are null. */
  move(
    move: string | null,
    options?: { offer_draw?: boolean; claim_draw?: boolean },
  ): Promise<MoveReply & Required<Pick<MoveReply, "requested_move" | "taken_move" | "capture_square">>>;
  end_game(termination: VoluntaryTermination): Promise<StateReply>;
  resign(): Promise<StateReply>;
}

// The wire format, for direct use.

/** The size of the largest reply accepted, in bytes. */
export const MAX_REPLY: number;

/** A message with its header. */
export function encodeFrame(body: Uint8Array): Uint8Array;

/** Splits a stream of bytes into messages. */
export class FrameDecoder {
  /** @param limit the size of the largest message accepted, in bytes */
  constructor(limit?: number);
  /** The number of bytes that are not part of a message taken yet. */
  readonly pending: number;
  /** Adds received bytes, split anywhere. */
  feed(chunk: Uint8Array): void;
  /** The next complete message, or null. Throws BadReply if a length is out of range. */
  next(): Uint8Array | null;
}

/** The JSON of a request, in UTF-8. */
export function encode(request: object): Uint8Array;

/** The JSON object in a message. Throws BadReply if there is none. */
export function decode(body: Uint8Array): Record<string, unknown>;
