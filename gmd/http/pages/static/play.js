// @ts-check
/** The page of a game in progress. */

import { apply, begun, position } from "./board.js";
import { follow } from "./live.js";

const game = document.getElementById("game");

begun();
follow(game?.dataset.path ?? "", game?.dataset.named ?? "", () => position().listed, apply);
