import { GmError } from "./errors.js";

/** Unwanted invitations that a loop excludes: as many as a server accepts in "except". */
const MAX_SKIPPED = 100;

/** Codes of a reply to join or decline that mean that the invitation no longer exists. */
const WITHDRAWN = new Set(["game_over", "no_such_game", "not_available"]);

/** A player's turns, one after the other, on a client of their own. */
export async function* turns(client, { game_id, over, invited = () => true, ...fields }) {
  const table = { client, fields, next: null };
  const ended = new Set();
  // The end of a game may be seen in the reply to an action, to a wait, or to both. A wait for any game does not report
  // an end again that the reply to an action has shown.
  table.see = (state) => {
    if (state?.phase !== "over" || ended.has(state.game_id)) return;
    ended.add(state.game_id);
    over?.(state);
  };
  const asked = { ...(game_id === undefined ? { any: true } : { game_id }), ...fields, actions: true };
  const skipped = []; // unwanted invitations
  table.wait = () => table.client.wait(skipped.length > 0 ? { ...asked, except: skipped } : asked);
  for (;;) {
    const reply = await (table.next ?? table.wait());
    table.next = null;
    table.see(reply.state);
    if (reply.state?.phase === "over" && game_id !== undefined) return;
    // Every wait reports an invitation until it is answered, so one that remains open is excluded from later waits. If
    // there is no room to exclude it, it would be reported without end and keep the bot from its turns: decline it.
    if (reply.state?.phase === "open" && game_id === undefined && !skipped.includes(reply.state.game_id)) {
      if (await invited(reply.state)) await takeUp(client, reply.state.game_id, fields);
      else if (skipped.length < MAX_SKIPPED) skipped.push(reply.state.game_id);
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

/** One turn of one player: its data and its actions. */
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

  async move(move, { offer_draw, claim_draw } = {}) {
    const reply = this.#act("move", { move, offer_draw, claim_draw });
    this.#waitForNext(); // after the move, in the same write
    return { requested_move: move, taken_move: null, capture_square: null, ...(await reply) };
  }

  async end_game(termination) {
    return this.#act("end_game", { termination });
  }

  resign() {
    return this.end_game(`resignation_${this.color}`);
  }

  /** Acts at this turn's ply, so that the request may be sent again. It is no error if the game has ended meanwhile. */
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
    next.catch(() => {}); // the loop handles the error, if it goes on
    this.#table.next = next;
  }

  /** The fields of the loop that belong in every request of it. */
  get #seat() {
    const { player, key, seat, brief } = this.#table.fields;
    return { player, key, seat, brief };
  }
}
