import { UserText } from "../../ui/basics.tsx"
import { Panel } from "../../ui/kit.tsx"
import type { Cause, Difference } from "../../view/compare/Causes.ts"

/** What the runs were given: a line for the policy, the inputs and the models, and where they differ. */
export const Causes = ({ causes }: { readonly causes: ReadonlyArray<Cause> }) => (
  <Panel title="Given to the runs">
    <dl>
      {causes.map(({ differences, differs, text, title }) => (
        <div
          key={title}
          className="grid gap-x-4 gap-y-1 border-b border-line px-3 py-2 last:border-0 sm:grid-cols-[96px_1fr]"
          data-cause={title.toLowerCase()}
        >
          <dt className="text-muted">{title}</dt>
          <dd className="min-w-0">
            <span className={differs ? "font-medium text-warn" : "text-soft"}>
              <UserText text={text} />
            </span>
            {differences.length === 0 ? null : (
              <ul className="mt-1 flex flex-col gap-1">
                {differences.map((difference) => (
                  <Line key={difference.name} difference={difference} isNamed={title !== "Policy"} />
                ))}
              </ul>
            )}
          </dd>
        </div>
      ))}
    </dl>
  </Panel>
)

const Line = ({
  difference: { left, name, right },
  isNamed
}: {
  readonly difference: Difference
  readonly isNamed: boolean
}) => (
  <li className="wrap-anywhere">
    {isNamed ? (
      <>
        <UserText text={name} className="font-medium" />
        {": "}
      </>
    ) : null}
    <Value text={left} /> <span className="text-muted">left,</span> <Value text={right} />{" "}
    <span className="text-muted">right</span>
  </li>
)

const Value = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? <span className="text-muted">none</span> : <UserText text={text} />
