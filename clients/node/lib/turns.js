import { GmError } from "./errors.js";

/** Unwanted invitations that a loop leaves out: as many as a server takes in "except". */
const MAX_STANDING = 100;

/** Codes that say, in answer to a join or a decline, that there is no invitation any more. */
const WITHDRAWN = new Set(["game_over", "no_such_game", "not_available"]);

/** A player's turns, one after the other, by a client that has nothing else to do. */
export async function* turns(client, { game_id, over, invited = () => true, ...fields }) {
  const table = { client, fields, next: null };
  const ended = new Set();
  // The end may be seen in the reply to an action, to a wait, or to both. Who has seen it in the first is not told of it
  // again by a wait for any game.
  table.see = (state) => {
    if (state?.phase !== "over" || ended.has(state.game_id)) return;
    ended.add(state.game_id);
    over?.(state);
  };
  const asked = { ...(game_id === undefined ? { any: true } : { game_id }), ...fields, actions: true };
  const standing = []; // unwanted invitations
  table.wait = () => table.client.wait(standing.length > 0 ? { ...asked, except: standing } : asked);
  for (;;) {
    const reply = await (table.next ?? table.wait());
    table.next = null;
    table.see(reply.state);
    if (reply.state?.phase === "over" && game_id !== undefined) return;
    // An invitation is due at every wait until it is answered: one that is left standing is left out of those that
    // follow. One for which there is no room there would be told of without end, and keep the bot from its turns.
    if (reply.state?.phase === "open" && game_id === undefined && !standing.includes(reply.state.game_id)) {
      if (await invited(reply.state)) await takeUp(client, reply.state.game_id, fields);
      else if (standing.length < MAX_STANDING) standing.push(reply.state.game_id);
      else await turnDown(client, reply.state.game_id, fields);
    }
    if (reply.state && reply.move_actions) yield new Turn(table, reply);
  }
}

async function takeUp(client, game_id, fields) {
  await client.join({ game_id, ...fields }).catch(unlessWithdrawn);
}

async function turnDown(client, game_id, { player, key }) {
  await client.decline({ game_id, player, key }).catch(unlessWithdrawn);
}

function unlessWithdrawn(error) {
  if (!(error instanceof GmError && WITHDRAWN.has(error.code))) throw error;
}

/** One turn of one player: what can be seen and done, and the ways to do it. */
export class Turn {
  #table;

  constructor(table, { state, sense_actions, move_actions }) {
    this.#table = table;
    this.state = state;
    this.sense_actions = sense_actions;
    this.move_actions = move_actions;
  }

  get game_id() {
    return this.state.game_id;
  }

  get color() {
    return this.state.turn;
  }

  async sense(square) {
    const reply = await this.#act("sense", { square });
    this.sense_actions = null;
    return { sense_result: [], ...reply };
  }

  async move(move, { offer_draw } = {}) {
    const reply = this.#act("move", { move, offer_draw });
    this.#waitForNext(); // behind the move, on the same way
    return { requested_move: move, taken_move: null, capture_square: null, ...(await reply) };
  }

  async end_game(termination) {
    return this.#act("end_game", { termination });
  }

  resign() {
    return this.end_game(`resignation_${this.color}`);
  }

  /** Does something at this turn's ply, so that it may be sent again. A game that has ended meanwhile is no error. */
  async #act(kind, fields) {
    const { client } = this.#table;
    const seated = { ...this.#seat, game_id: this.game_id };
    const reply = await client
      .request(kind, { ...seated, ...fields, ply: this.state.ply_index })
      .catch((error) => {
        if (error instanceof GmError && error.code === "game_over") return client.state(seated);
        throw error;
      });
    this.state = reply.state;
    this.#table.see(reply.state);
    return reply;
  }

  #waitForNext() {
    const next = this.#table.wait();
    next.catch(() => {}); // the loop meets it, if it goes on
    this.#table.next = next;
  }

  /** What of the fields of the loop concerns every request of it. */
  get #seat() {
    const { player, key, seat, brief } = this.#table.fields;
    return { player, key, seat, brief };
  }
}
