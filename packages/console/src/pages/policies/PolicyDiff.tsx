import type { PolicyDescriptor } from "@runplane/api"
import { useMemo } from "react"
import { UserText } from "../../ui/basics.tsx"
import { Panel } from "../../ui/kit.tsx"
import { counted, cut, LINES_LENGTH, NAME_LENGTH } from "../../view/format/Format.ts"
import { type Difference, jsonDifferences, ruleDifferences } from "../../view/policies/PolicyDifferences.ts"

interface PolicyDiffProps {
  readonly left: PolicyDescriptor
  readonly right: PolicyDescriptor
}

/** The differences of two policies: their rules in words, and the members of their JSON. */
export default function PolicyDiff({ left, right }: PolicyDiffProps) {
  const rules = useMemo(() => ruleDifferences(left, right), [left, right])
  const members = useMemo(
    () =>
      jsonDifferences(
        { mode: left.mode, schemaVersion: left.schemaVersion, rules: left.rules },
        { mode: right.mode, schemaVersion: right.schemaVersion, rules: right.rules }
      ),
    [left, right]
  )
  const ids = [left.policyId, right.policyId] as const
  return (
    <>
      <Differences title="Differences in words" ids={ids} rows={rules} />
      <Differences title="Differences of the JSON" ids={ids} rows={members} isCode />
    </>
  )
}

interface DifferencesProps {
  readonly title: string
  readonly ids: readonly [left: string, right: string]
  readonly rows: ReadonlyArray<Difference>
  readonly isCode?: boolean
}

const Differences = ({ ids: [left, right], isCode = false, rows, title }: DifferencesProps) => (
  <Panel title={title} note={rows.length === 0 ? "none" : counted(rows.length, "difference")}>
    {rows.length === 0 ? (
      <p className="p-3 text-muted">Both policies have the same.</p>
    ) : (
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={title}>
        <table className="w-full border-collapse">
          <thead>
            <tr className="border-b border-line">
              {[isCode ? "Member" : "Rule", left, right].map((name) => (
                <th key={name} scope="col" className="label px-3 py-1.5 text-left">
                  <UserText text={cut(name, NAME_LENGTH)} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ at, left: one, right: other }) => (
              <tr key={at} className="border-b border-line align-top last:border-0">
                <th scope="row" className="px-3 py-1.5 text-left font-mono text-[11px] font-normal text-muted">
                  {at}
                </th>
                {[one, other].map((text, side) => (
                  <td
                    key={side === 0 ? "left" : "right"}
                    className={`min-w-[140px] px-3 py-1.5 wrap-anywhere ${isCode ? "font-mono text-[12px]" : ""}`}
                  >
                    {text === undefined ? <span className="text-muted">absent</span> : cut(text, LINES_LENGTH)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
  </Panel>
)
