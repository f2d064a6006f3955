import { exactTime } from "../view/format/Format.ts"

/** What a printed page says of itself: its address, and when it was printed, with the zone of all its times. */
const sign = (): void => {
  document.documentElement.dataset["printed"] = `${window.location.href} · printed ${exactTime(Date.now())}`
}

window.addEventListener("beforeprint", sign)
