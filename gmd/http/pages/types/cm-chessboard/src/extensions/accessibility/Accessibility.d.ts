import type { Chessboard } from "../../Chessboard.js";

export class Accessibility {
  constructor(
    chessboard: Chessboard,
    props?: {
      language?: "de" | "en";
      brailleNotationInAlt?: boolean;
      movePieceForm?: boolean;
      boardAsTable?: boolean;
      piecesAsList?: boolean;
      keyboardMoveInput?: boolean;
      visuallyHidden?: boolean;
    },
  );
}
