// @ts-check
/** Sounds: of a move, of a capture, and of a clock that runs out. The browser makes them; there are no files. */

const KEY = "gmd.sound";

/** @type {AudioContext | null} */
let audio = null;

/** Pitches in hertz, one after the other. */
const SOUNDS = { move: [330], capture: [220, 165], low: [880, 880] };

/** Return whether sounds are wanted. */
function isOn() {
  return localStorage.getItem(KEY) !== "off";
}

/**
 * Play a sound, unless the visitor has switched them off. Browsers keep silent until the visitor has pressed something.
 * @param {keyof typeof SOUNDS} kind
 */
export function play(kind) {
  if (!isOn()) return;
  audio ??= new AudioContext();
  void audio.resume();
  for (const [index, pitch] of SOUNDS[kind].entries()) {
    const start = audio.currentTime + index * 0.12;
    const tone = new OscillatorNode(audio, { type: "triangle", frequency: pitch });
    const volume = new GainNode(audio, { gain: 0.25 });
    volume.gain.setValueAtTime(0.25, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + 0.1);
    tone.connect(volume).connect(audio.destination);
    tone.start(start);
    tone.stop(start + 0.1);
  }
}

/**
 * Let a button switch the sounds.
 * @param {HTMLElement} button
 */
export function switchBy(button) {
  const show = () => {
    button.setAttribute("aria-pressed", String(isOn()));
    button.textContent = `Sound ${isOn() ? "on" : "off"}`;
  };
  button.addEventListener("click", () => {
    localStorage.setItem(KEY, isOn() ? "off" : "on");
    show();
    play("move");
  });
  button.hidden = false;
  show();
}
