import { AlertTriangle } from "lucide-react"
import { UserText } from "../../ui/basics.tsx"
import { TextLink } from "../../ui/kit.tsx"
import { counted } from "../../view/format/Format.ts"
import { valueText } from "../../view/marks/Marks.ts"
import type { GivenMarks } from "../../view/review/Review.ts"
import { retry, undo } from "./GivenMarks.ts"

interface NotStoredProps {
  readonly marks: GivenMarks
  readonly renew: (runId: string) => Promise<unknown>
}

/** The marks that failed to be stored, or to be removed. A retry or the reviewer removes them from the list. */
export const NotStored = ({ marks, renew }: NotStoredProps) => {
  const failed = marks.filter(({ problem }) => problem !== undefined)
  if (failed.length === 0) return null
  return (
    <section
      aria-label="Marks that were not stored"
      className="max-h-[30vh] shrink-0 overflow-auto border-b border-line bg-bad-soft px-4 py-2"
    >
      <div role="alert" className="flex flex-wrap items-center gap-2 font-medium">
        <AlertTriangle size={15} aria-hidden className="shrink-0 text-bad" />
        {counted(failed.length, "mark was", "marks were")} not stored or removed
        {failed.length < 2 ? null : (
          <button
            type="button"
            className="btn"
            onClick={() => {
              for (const mark of failed) act(mark, renew)
            }}
          >
            Try all again
          </button>
        )}
      </div>
      <ul>
        {failed.map((given) => {
          const { id, key, mark, problem, runId, title } = given
          return (
            <li key={key} className="flex flex-wrap items-center gap-x-2 gap-y-1 py-1" data-not-stored={runId}>
              <TextLink href={`/runs/${runId}`} className="max-w-[40ch] truncate">
                <UserText text={title} />
              </TextLink>
              <span className="font-medium">
                {mark.name} <UserText text={valueText(mark.name, mark.value)} />
              </span>
              <span className="text-soft">
                {id === undefined ? "was not stored" : "was not removed"}: <UserText text={problem ?? ""} />
              </span>
              <span className="ml-auto flex gap-1.5">
                <button type="button" className="btn" onClick={() => act(given, renew)}>
                  Try again
                </button>
                {id === undefined ? (
                  <button type="button" className="btn" onClick={() => undo(given, renew)}>
                    Drop it
                  </button>
                ) : null}
              </span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

const act = (given: GivenMarks[number], renew: NotStoredProps["renew"]) =>
  given.id === undefined ? retry(given, renew) : undo(given, renew)
