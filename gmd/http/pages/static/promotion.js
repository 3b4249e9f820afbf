// @ts-check
/** Asks which piece a pawn becomes. */

import { NAMES, SYMBOLS } from "./pieces.js";

/**
 * Return the move of several that somebody chooses; null for none of them.
 * @param {readonly string[]} moves in UCI, which end with the letters of pieces
 * @returns {Promise<string | null>}
 */
export function choosePromotion(moves) {
  const dialog = document.createElement("dialog");
  dialog.className = "promotion";
  dialog.setAttribute("aria-label", "Promote the pawn to");
  for (const letter of ["q", "n", "r", "b"]) {
    const move = moves.find((each) => each.length === 5 && each.endsWith(letter));
    if (move === undefined) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.value = move;
    button.innerHTML = `<span aria-hidden="true">${SYMBOLS[letter]}</span> ${NAMES[letter]}`;
    button.addEventListener("click", () => dialog.close(move));
    dialog.append(button);
  }
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue || null);
    });
    dialog.showModal();
  });
}
