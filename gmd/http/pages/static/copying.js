// @ts-check
/** Buttons that copy: what a field holds, or the address of the page. Without this script the fields can be read. */

/**
 * Show the buttons of a part of the page.
 * @param {ParentNode} part
 */
export function showButtons(part) {
  for (const button of part.querySelectorAll("button[data-copies]")) button.removeAttribute("hidden");
}

/**
 * Copy what a button is for when it is pressed.
 * @param {() => string} address returns the address to copy
 * @param {HTMLElement} said says what has happened
 */
export function copyOnClick(address, said) {
  document.addEventListener("click", async (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[data-copies]") : null;
    if (!(button instanceof HTMLElement)) return;
    const name = button.dataset.copies ?? "";
    const field = document.getElementById(name);
    const isField = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
    const copied = await copy(isField ? field.value : address(), button);
    said.textContent = copied ? "Copied." : "This browser does not let the page copy.";
    const words = button.textContent;
    button.textContent = said.textContent;
    setTimeout(() => (button.textContent = words), 2_000);
  });
}

/**
 * Copy a text. Browsers give the clipboard only to pages that came by HTTPS or from this machine; for others there is
 * the old way, by a field that is selected.
 * @param {string} text
 * @param {HTMLElement} beside where the field stands for a moment
 */
async function copy(text, beside) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "aside";
  beside.after(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  beside.focus();
  return copied;
}
