// @ts-check
/** Asks which piece a pawn becomes, on the squares before its target. */

import { drawnPiece, FILES, NAMES } from "./pieces.js";

/**
 * Return the move of several that somebody chooses; null for none of them.
 * @param {HTMLElement} place the place of the board
 * @param {readonly string[]} moves in UCI, of one pawn to one square; they end with the letters of pieces
 * @param {import("./view.js").Color} bottom the side at the bottom of the board
 * @returns {Promise<string | null>}
 */
export function choosePromotion(place, moves, bottom) {
  const end = moves[0]?.slice(2, 4) ?? "";
  const isWhite = end[1] === "8";
  const column = FILES.indexOf(end[0] ?? "");
  const dialog = document.createElement("dialog");
  dialog.className = `promotion cg-wrap ${isWhite === (bottom === "white") ? "down" : "up"}`;
  dialog.style.setProperty("--column", String(bottom === "white" ? column : 7 - column));
  dialog.setAttribute("aria-label", "Promote the pawn to");
  for (const letter of ["q", "n", "r", "b", "k"]) {
    const move = moves.find((each) => each.length === 5 && each.endsWith(letter));
    if (move === undefined) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.value = move;
    button.title = NAMES[letter] ?? letter;
    button.setAttribute("aria-label", button.title);
    button.append(drawnPiece(isWhite ? letter.toUpperCase() : letter));
    button.addEventListener("click", () => dialog.close(move));
    dialog.append(button);
  }
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape") dialog.close();
  });
  dialog.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && dialog.contains(relatedTarget))) dialog.close();
  });
  const focused = document.activeElement;
  place.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
      resolve(dialog.returnValue || null);
    });
    dialog.show();
  });
}
