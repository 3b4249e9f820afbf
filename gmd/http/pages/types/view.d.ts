// What the server says of a game (gmd/http/pages/live_view.py).

export type Color = "white" | "black";

export interface Move {
  readonly ply: number;
  readonly number: number;
  readonly color: Color;
  readonly san: string;
}

/** An enemy piece that was seen: its square, its letter in FEN, and how many turns ago. */
export type Remembered = readonly [string, string, number];

/** What a board shows. */
export interface Position {
  readonly placement: string;
  readonly last_move: string | null;
  readonly check: string | null;
  readonly window: readonly string[];
  readonly unseen: readonly string[];
  readonly lost: string | null;
  readonly remembered: readonly Remembered[];
  readonly orientation: Color;
  /** For each square from a1, b1 to h8 the probability of an enemy piece; null for none. */
  readonly shares?: readonly number[] | null;
}

export interface BoardView extends Position {
  readonly fen: string;
  readonly pockets: readonly [string, string] | null;
}

/** A player's turn of blind chess, and the board as the player knew it then. */
export interface Turn {
  readonly number: number;
  readonly ply: number;
  readonly words: readonly string[];
  readonly board: BoardView;
}

export interface Clock {
  readonly white: number | null;
  readonly black: number | null;
  readonly running: Color | null;
}

export interface Can {
  readonly phase: "open" | "wait" | "sense" | "move";
  readonly moves: readonly string[];
  readonly senses: readonly string[];
  readonly skip: boolean;
  readonly resign: boolean;
  readonly call_off: boolean;
  readonly draw: "offer" | "offered" | "accept" | null;
  readonly claim: readonly string[];
}

export interface LiveView {
  readonly seq: number;
  readonly ply: number;
  readonly over: boolean;
  readonly seat: Color | null;
  /** Empty in the view that the page comes with: the page has it. */
  readonly html: string;
  readonly moves: readonly Move[];
  readonly turns: readonly Turn[];
  readonly board: BoardView;
  readonly clock: Clock | null;
  readonly can: Can | null;
}

/** Where enemy pieces may stand (gmd/http/pages/aid.py). */
export interface Aid {
  readonly positions: number;
  readonly exact: boolean;
  /** By kinds of pieces, the share of the positions for each square from a1, b1 to h8. */
  readonly shares: Readonly<Record<string, readonly number[]>>;
  readonly words: string;
  readonly hints: boolean;
  readonly hint: { readonly square: string; readonly left: number } | null;
  readonly hint_words: string;
}
