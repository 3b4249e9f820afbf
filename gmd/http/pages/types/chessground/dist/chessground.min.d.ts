// The types of chessground's bundle are those of its parts.
export { Chessground } from "../../../static/chessground/dist/chessground.js";
