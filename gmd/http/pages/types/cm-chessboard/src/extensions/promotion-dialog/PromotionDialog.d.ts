import type { Chessboard, Color, Piece } from "../../Chessboard.js";

export const PROMOTION_DIALOG_RESULT_TYPE: { readonly pieceSelected: "pieceSelected"; readonly canceled: "canceled" };

export type Chosen =
  | { readonly type: "pieceSelected"; readonly square: string; readonly piece: Piece }
  | { readonly type: "canceled" };

export class PromotionDialog {
  constructor(chessboard: Chessboard, props?: { language?: "de" | "en" });
  showPromotionDialog(square: string, color: Color, callback: (chosen: Chosen) => void): void;
  isPromotionDialogShown(): boolean;
}
