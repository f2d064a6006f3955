import type { CommitteeIndependence } from "@runplane/api"
import { useState } from "react"
import { UserText } from "../../ui/basics.tsx"
import { Panel, Select } from "../../ui/kit.tsx"
import { Empty } from "../../ui/States.tsx"
import { firstKind, type MatrixCell, matrixOf } from "../../view/committee/Committee.ts"

/** Share of the colour in the strongest cell, in per cent: the text above it stays readable in both themes. */
const STRONGEST = 38

const NOTES = {
  errors: "The correlation of the errors of two seats: 1 means always together, 0 as often as by chance.",
  agreement: "How often two seats cast the same vote. It needs no truth, and says nothing about errors."
} as const

/** Who errs with whom, or agrees with whom. */
export const ErrorMatrix = ({ found }: { readonly found: CommitteeIndependence }) => {
  const [kind, setKind] = useState(() => firstKind(found))
  const seats = found.seats.map(({ seat }) => seat)
  return (
    <Panel
      title={kind === "errors" ? "Who errs with whom" : "Who agrees with whom"}
      actions={
        <Select
          label="Figures of the matrix"
          value={kind}
          options={[
            ["errors", "Errors"],
            ["agreement", "Agreement"]
          ]}
          onChange={setKind}
        />
      }
    >
      {seats.length < 2 ? (
        <Empty title="Fewer than two seats vote">A matrix needs two seats that vote.</Empty>
      ) : (
        <>
          <div className="overflow-x-auto p-3" tabIndex={0} role="group" aria-label="Matrix of seats">
            <table className="border-separate border-spacing-0.5" data-matrix={kind}>
              <thead>
                <tr>
                  <td />
                  {seats.map((seat, at) => (
                    <th key={seat} scope="col" className="label num min-w-12 px-1 text-center max-sm:min-w-9">
                      <span aria-hidden>{at + 1}</span>
                      <span className="sr-only">{seat}</span>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {matrixOf(seats, found.pairs, kind).map((cells, row) => (
                  <tr key={seats[row]}>
                    <th
                      scope="row"
                      className="max-w-[180px] min-w-[96px] pr-2 max-sm:max-w-[128px] text-left font-normal"
                    >
                      <span className="flex items-baseline gap-1.5">
                        <span className="num text-muted" aria-hidden>
                          {row + 1}
                        </span>
                        <UserText text={seats[row] ?? ""} className="truncate" />
                      </span>
                    </th>
                    {cells.map((cell, column) => (
                      <Cell key={seats[column]} cell={cell} />
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p className="border-t border-line px-3 py-2 text-[12px] text-muted">{NOTES[kind]}</p>
        </>
      )}
    </Panel>
  )
}

const Cell = ({ cell }: { readonly cell: MatrixCell | undefined }) => {
  if (cell === undefined) return <td className="h-9 rounded-sm bg-sunken" />
  const { isBelow, says, strength, text } = cell
  const colour = isBelow ? "var(--c-accent)" : "var(--c-warn)"
  const background =
    strength === undefined
      ? undefined
      : `color-mix(in srgb, ${colour} ${Math.round(strength * STRONGEST)}%, var(--c-panel))`
  return (
    <td
      title={says}
      className={`num h-9 min-w-12 rounded-sm px-1 text-center max-sm:min-w-9 max-sm:px-0.5 ${strength === undefined ? "bg-sunken text-muted" : ""}`}
      style={background === undefined ? undefined : { background }}
    >
      {text}
      <span className="sr-only">. {says}</span>
    </td>
  )
}
