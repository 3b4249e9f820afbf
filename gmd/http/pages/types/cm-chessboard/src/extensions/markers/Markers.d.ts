import type { Chessboard } from "../../Chessboard.js";

/** How a marker looks. Pages may make others: a class of the stylesheet, and a part of the sprite. */
export interface MarkerType {
  readonly class: string;
  readonly slice: string;
  /** Above the pieces; below them by default. */
  readonly position?: "above";
}

export const MARKER_TYPE: {
  readonly frame: MarkerType;
  readonly framePrimary: MarkerType;
  readonly frameDanger: MarkerType;
  readonly circle: MarkerType;
  readonly circlePrimary: MarkerType;
  readonly circleDanger: MarkerType;
  readonly circleDangerFilled: MarkerType;
  readonly square: MarkerType;
  readonly dot: MarkerType;
  readonly bevel: MarkerType;
};

export class Markers {
  constructor(chessboard: Chessboard, props?: { autoMarkers?: MarkerType | null; sprite?: string });
  addMarker(type: MarkerType, square: string): void;
  getMarkers(type?: MarkerType, square?: string): { readonly square: string; readonly type: MarkerType }[];
  removeMarkers(type?: MarkerType, square?: string): void;
  /** Mark where a piece may go: with a dot, or, where it would capture, with a bevel. */
  addLegalMovesMarkers(moves: readonly { to: string; promotion?: string }[]): void;
  removeLegalMovesMarkers(): void;
}
