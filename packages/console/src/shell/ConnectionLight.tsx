import { type Connection, connection } from "../client/Connection.ts"
import { useStore } from "../ui/hooks.ts"
import { counted, whole } from "../view/Format.ts"

const words = (now: Connection): { readonly word: string; readonly tone: string; readonly title: string } => {
  switch (now.state) {
    case "live":
      return {
        word: `Live · complete to ${whole(now.complete)}`,
        tone: "bg-good",
        title: "The stream is open, and all events up to this index were received"
      }
    case "complete":
      return {
        word: `Complete · ${counted(now.complete, "event")}`,
        tone: "bg-good",
        title: "The run has ended, and all of its events are loaded"
      }
    case "catching-up":
      return {
        word: `Catching up ${counted(now.behind, "event")}`,
        tone: "bg-accent",
        title: "The page is receiving earlier events of the run"
      }
    case "reconnecting":
      return {
        word: "Reconnecting",
        tone: "bg-warn",
        title: "The stream failed; it resumes at its last event without loss"
      }
    case "polling":
      return { word: "Up to date", tone: "bg-good", title: "The page polls every few seconds" }
    case "unreachable":
      return { word: "No answer", tone: "bg-bad", title: "The control plane does not answer; the page retries" }
  }
}

/** The state of the connection. Screen readers announce changes of the state, not every event. */
export const ConnectionLight = () => {
  const now = useStore(connection)
  const { title, tone, word } = words(now)
  return (
    <span
      title={title}
      className="num inline-flex items-center gap-2 whitespace-nowrap text-soft"
      data-light={now.state}
    >
      <span aria-hidden className={`size-2 shrink-0 rounded-full ${tone}`} />
      {word}
      <span aria-live="polite" className="sr-only">
        {now.state === "live" || now.state === "complete" ? "connected" : now.state.replace("-", " ")}
      </span>
    </span>
  )
}
