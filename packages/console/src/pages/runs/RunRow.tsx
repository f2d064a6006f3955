import type { Run } from "@runplane/api"
import { PanelRight } from "lucide-react"
import { memo } from "react"
import { CONSOLE_PATH } from "../../client/Base.ts"
import { fromClass } from "../../ui/kit.tsx"
import { runFacts } from "../../view/run/RunFacts.ts"
import { runLine } from "../../view/runs/RunLine.ts"
import type { Column } from "./RunColumns.tsx"

export const cellClass = ({ align, from }: Column): string =>
  `flex min-w-0 items-center ${align === "right" ? "justify-end text-right" : ""} ${from === undefined ? "" : fromClass[from]}`

/** Actions of a row; the same object while the list is scrolled. */
export interface RowActions {
  readonly choose: (index: number) => void
  readonly open: (runId: string) => void
  readonly peek: (runId: string) => void
  readonly toggle: (runId: string) => void
}

interface RunCellsProps {
  readonly run: Run
  readonly index: number
  readonly columns: ReadonlyArray<Column>
  readonly isSelected: boolean
  /** Adds a line with what the hidden columns say. */
  readonly isPhone: boolean
  readonly now: number
  readonly act: RowActions
}

/** The cells of a run. Drawn again only when something of it has changed, however fast the list is scrolled. */
export const RunCells = memo(function RunCells({ act, columns, index, isPhone, isSelected, now, run }: RunCellsProps) {
  const facts = runFacts(run)
  return (
    <>
      <span role="cell" className="flex items-center" onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          aria-label={`Choose ${facts.title}`}
          checked={isSelected}
          onChange={() => act.toggle(run.id)}
        />
      </span>
      {columns.map((column) => (
        <span key={column.id} role="cell" className={cellClass(column)}>
          {column.id === "run" ? (
            <a
              href={`${CONSOLE_PATH}runs/${run.id}`}
              className="min-w-0 flex-1 truncate"
              onFocus={() => act.choose(index)}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return event.stopPropagation()
                event.preventDefault()
                act.open(run.id)
              }}
            >
              {column.cell(run, facts, now)}
              {isPhone ? (
                <span className="num block truncate text-[12px] text-muted">{runLine(run, facts)}</span>
              ) : null}
            </a>
          ) : (
            column.cell(run, facts, now)
          )}
        </span>
      ))}
      <span role="cell" className="max-md:hidden">
        <button
          type="button"
          aria-label={`Preview ${facts.title}`}
          title="Preview beside the list"
          className="rounded p-1 text-muted hover:text-accent"
          onClick={(event) => {
            event.stopPropagation()
            act.peek(run.id)
          }}
        >
          <PanelRight size={14} aria-hidden />
        </button>
      </span>
    </>
  )
})
