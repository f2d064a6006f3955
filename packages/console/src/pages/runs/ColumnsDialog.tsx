import { ArrowDown, ArrowUp } from "lucide-react"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"
import { useDefinitions } from "../../ui/marks/useMarks.ts"
import { markColumn, markNameOf } from "../../view/marks/MarkColumns.ts"
import { COLUMNS, chosenColumns, FIXED } from "./RunColumns.tsx"

interface ColumnsDialogProps {
  readonly chosen: ReadonlyArray<string>
  readonly onChange: (columns: ReadonlyArray<string>) => void
  readonly onClose: () => void
}

/** Which columns the list has, and in which order. */
export default function ColumnsDialog({ chosen, onChange, onClose }: ColumnsDialogProps) {
  const shown = chosenColumns(chosen)
  const definitions = useDefinitions().data ?? []
  const rest = [...COLUMNS.map(({ id }) => id), ...definitions.map(({ name }) => markColumn(name))].filter(
    (id) => !FIXED.includes(id) && !shown.includes(id)
  )
  const titleOf = (id: string) => {
    const name = markNameOf(id)
    return name === undefined ? (COLUMNS.find((column) => column.id === id)?.title ?? id) : `Mark ${name}`
  }
  const move = (id: string, by: number) => {
    const at = shown.indexOf(id)
    const others = shown.filter((other) => other !== id)
    onChange([...others.slice(0, at + by), id, ...others.slice(at + by)])
  }
  return (
    <Overlay open onClose={onClose} title="Columns">
      <div className="flex flex-col gap-3 p-4">
        <ol className="flex flex-col gap-0.5">
          {shown.map((id, at) => (
            <li key={id} className="flex items-center gap-2">
              <label className="flex flex-1 items-center gap-2 py-1">
                <input
                  type="checkbox"
                  checked
                  disabled={shown.length === 1}
                  onChange={() => onChange(shown.filter((other) => other !== id))}
                />
                {titleOf(id)}
              </label>
              <button
                type="button"
                aria-label={`${titleOf(id)}: earlier`}
                className="btn btn-quiet px-1.5"
                disabled={at === 0}
                onClick={() => move(id, -1)}
              >
                <ArrowUp size={14} aria-hidden />
              </button>
              <button
                type="button"
                aria-label={`${titleOf(id)}: later`}
                className="btn btn-quiet px-1.5"
                disabled={at === shown.length - 1}
                onClick={() => move(id, 1)}
              >
                <ArrowDown size={14} aria-hidden />
              </button>
            </li>
          ))}
        </ol>
        {rest.length === 0 ? null : (
          <ul className="grid gap-0.5 border-t border-line pt-2 sm:grid-cols-2">
            {rest.map((id) => (
              <li key={id}>
                <label className="flex items-center gap-2 py-1">
                  <input type="checkbox" checked={false} onChange={() => onChange([...shown, id])} />
                  {titleOf(id)}
                </label>
              </li>
            ))}
          </ul>
        )}
        <div className="flex justify-end">
          <button type="button" className="btn" disabled={chosen.length === 0} onClick={() => onChange([])}>
            Reset
          </button>
        </div>
      </div>
    </Overlay>
  )
}
