import { whole } from "../../view/Format.ts"
import type { Shown } from "./Facts.ts"

interface LeftOutProps {
  readonly shown: Shown
  readonly isShortened: boolean
}

/** What a view of a very large run does not have before it. */
export const LeftOut = ({ isShortened, shown: { events, start } }: LeftOutProps) => {
  if (start === 0 && !isShortened) return null
  return (
    <p role="note" className="shrink-0 border-b border-line bg-sunken px-3 py-1 text-[12px] text-soft">
      {start === 0
        ? ""
        : `Drawn from events ${whole(start + 1)} to ${whole(start + events.length)} of this long run; status and ` +
          "figures count all. Move the place to draw from others. "}
      {isShortened ? "Long texts are shortened here; an event that you open is whole." : ""}
    </p>
  )
}
