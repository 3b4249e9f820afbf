// @ts-check
/** Sends what a player does, as the page's forms do, and gets the game's view in answer. */

/**
 * The answer: the game's view, or why it was refused.
 * @typedef {{ readonly view: import("./view.js").LiveView } | { readonly refusal: string }} Answer
 */

/**
 * Send the fields of a form.
 * @param {string} address
 * @param {URLSearchParams} fields
 * @returns {Promise<Answer>}
 */
export async function send(address, fields) {
  try {
    const answer = await fetch(address, {
      method: "POST",
      body: fields,
      headers: { accept: "application/json" },
      redirect: "error",
    });
    const body = await answer.json();
    return answer.ok ? { view: body } : { refusal: body.error };
  } catch (error) {
    console.warn(error);
    return { refusal: "The server cannot be reached. Try again." };
  }
}

/**
 * Return the fields of a form.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter the button that was pressed
 */
export function fieldsOf(form, submitter) {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) fields.append(name, String(value));
  if (submitter instanceof HTMLButtonElement && submitter.name) fields.set(submitter.name, submitter.value);
  return fields;
}
