// What the pages use of cm-chessboard, which comes without declarations; tests/http/pages/test_scripts.py compares.

export type Color = "w" | "b";
/** A colour and a piece: "wn" is a white knight. */
export type Piece = `${Color}${"p" | "n" | "b" | "r" | "q" | "k"}`;

export const COLOR: { readonly white: "w"; readonly black: "b" };
export const FEN: { readonly start: string; readonly empty: string };
export const BORDER_TYPE: { readonly none: "none"; readonly thin: "thin"; readonly frame: "frame" };
export const INPUT_EVENT_TYPE: {
  readonly moveInputStarted: "moveInputStarted";
  readonly movingOverSquare: "movingOverSquare";
  readonly validateMoveInput: "validateMoveInput";
  readonly moveInputCanceled: "moveInputCanceled";
  readonly moveInputFinished: "moveInputFinished";
};
export const POINTER_EVENTS: {
  readonly pointercancel: "pointercancel";
  readonly pointerdown: "pointerdown";
  readonly pointerenter: "pointerenter";
  readonly pointerleave: "pointerleave";
  readonly pointermove: "pointermove";
  readonly pointerout: "pointerout";
  readonly pointerover: "pointerover";
  readonly pointerup: "pointerup";
};

/** A step of a move being made with the mouse or the keyboard. */
export type InputEvent = { readonly chessboard: Chessboard } & (
  | { readonly type: "moveInputStarted"; readonly squareFrom: string; readonly piece: Piece | null }
  | {
      readonly type: "movingOverSquare";
      readonly squareFrom: string;
      /** Null beside the board. */
      readonly squareTo: string | null;
      readonly piece: Piece | null;
    }
  | {
      readonly type: "validateMoveInput";
      readonly squareFrom: string;
      readonly squareTo: string;
      readonly piece: Piece | null;
      /** Whether the move is drawn as a movement; the handler may say no. */
      animate?: boolean;
    }
  | {
      readonly type: "moveInputCanceled";
      readonly squareFrom: string;
      readonly squareTo: string | null;
      readonly reason: string;
    }
  | {
      readonly type: "moveInputFinished";
      readonly squareFrom: string;
      readonly squareTo: string;
      readonly legalMove: boolean;
    }
);

/** A square that was chosen; null beside the squares. */
export interface SquareEvent {
  readonly eventType: string;
  readonly event: Event;
  readonly square: string | null;
}

export interface Props {
  position?: string;
  orientation?: Color;
  responsive?: boolean;
  /** The folder of the pictures, with a slash at its end. */
  assetsUrl?: string;
  assetsCache?: boolean;
  style?: {
    cssClass?: string;
    showCoordinates?: boolean;
    borderType?: "none" | "thin" | "frame";
    aspectRatio?: number;
    pieces?: { type?: string; file?: string; tileSize?: number };
    animationDuration?: number;
  };
  extensions?: readonly Extended[];
}

/** An extension and its options. */
export interface Extended {
  class: ExtensionClass;
  props?: object;
}

export type ExtensionClass = new (chessboard: Chessboard, props?: any) => object;

export class Chessboard {
  constructor(context: HTMLElement, props?: Props);
  readonly context: HTMLElement;
  setPiece(square: string, piece: Piece | null, animated?: boolean): Promise<void>;
  movePiece(squareFrom: string, squareTo: string, animated?: boolean): Promise<void>;
  /** Show a position: a FEN, or its first field. */
  setPosition(fen: string, animated?: boolean): Promise<void>;
  setOrientation(color: Color, animated?: boolean): Promise<void>;
  getPiece(square: string): Piece | null;
  /** Return the first field of the FEN. */
  getPosition(): string;
  getOrientation(): Color;
  /** The handler's answer to moveInputStarted and to validateMoveInput says whether the move may go on. */
  enableMoveInput(handler: (event: InputEvent) => boolean | void, color?: Color): void;
  disableMoveInput(): void;
  cancelMoveInput(): void;
  isMoveInputEnabled(): boolean;
  enableSquareSelect(eventType: string, handler: (event: SquareEvent) => void): void;
  disableSquareSelect(eventType: string): void;
  isSquareSelectEnabled(): boolean;
  addExtension(extension: ExtensionClass, props?: object): void;
  getExtension<T>(extension: new (...given: any[]) => T): T | null;
  destroy(): void;
}
