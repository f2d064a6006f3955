import type { Mark } from "@runplane/domain"
import { Chip, UserText } from "../../ui/basics.tsx"
import { UnreliableSign } from "../../ui/marks/MarkChip.tsx"
import { useDefinitions, useReliability } from "../../ui/marks/useMarks.ts"
import { cut } from "../../view/format/Format.ts"
import { valuesOf } from "../../view/marks/MarkColumns.ts"
import { valueText, valueTone } from "../../view/marks/Marks.ts"

const MOST = 2
const LENGTH = 24

/** The values that a run has for a name, each with its number. */
export default function MarkCell({ marks, name }: { readonly marks: ReadonlyArray<Mark>; readonly name: string }) {
  const definition = useDefinitions().data?.find((one) => one.name === name)
  const reliabilityOf = useReliability(marks)
  const values = valuesOf(marks)
  const all = values.map(({ count, value }) => `${valueText(name, value)}${count === 1 ? "" : ` ×${count}`}`)
  return (
    <span className="flex min-w-0 items-baseline gap-1" title={cut(all.join(", "), 300)}>
      {values.slice(0, MOST).map(({ count, value }) => (
        <span key={String(value)} className="inline-flex min-w-0">
          <Chip tone={valueTone(name, value, definition)}>
            <UserText text={cut(valueText(name, value), LENGTH)} className="truncate" />
            {count === 1 ? null : <span className="num">×{count}</span>}
          </Chip>
        </span>
      ))}
      <UnreliableSign marks={marks} reliabilityOf={reliabilityOf} />
      {values.length > MOST ? <span className="num text-muted">+{values.length - MOST}</span> : null}
    </span>
  )
}
