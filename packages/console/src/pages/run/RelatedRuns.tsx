import type { Run } from "@runplane/api"
import { Link } from "wouter"
import { StatusBadge, Time } from "../../ui/basics.tsx"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"
import { Loaded, TextLink } from "../../ui/kit.tsx"
import { NameText } from "../../ui/NameText.tsx"
import { useRead } from "../../ui/useRead.ts"
import { counted } from "../../view/format/Format.ts"
import { type RelatedSearch, relatedSearches } from "../../view/run/Related.ts"
import { runFacts } from "../../view/run/RunFacts.ts"

/** Listed runs of each group. */
const MOST = 8

/** The runs that belong to a run: its original, the runs made from it, and those of its conversation and scenario. */
export default function RelatedRuns({ onClose, run }: { readonly run: Run; readonly onClose: () => void }) {
  return (
    <Overlay open onClose={onClose} title="Related runs" form="side">
      <div className="flex flex-col gap-4 p-4">
        {relatedSearches(run, runFacts(run)).map((search) => (
          <Group key={search.title} search={search} run={run} onGo={onClose} />
        ))}
      </div>
    </Overlay>
  )
}

interface GroupProps {
  readonly search: RelatedSearch
  readonly run: Run
  readonly onGo: () => void
}

const Group = ({ onGo, run, search: { none, q, title } }: GroupProps) => {
  const found = useRead(["related runs", q], (api) =>
    api.runs.list({
      query: { q, limit: MOST + 1, offset: 0, sortBy: "createdAt", sortOrder: "desc", includeArchived: true }
    })
  )
  return (
    <section aria-label={title}>
      <h3 className="label mb-1">{title}</h3>
      <Loaded read={found} what="The runs cannot be read" rows={3}>
        {({ data, total }) => {
          const others = data.filter(({ id }) => id !== run.id).slice(0, MOST)
          if (others.length === 0) return <p className="text-muted">{none}</p>
          return (
            <>
              <RunLinks runs={others} onGo={onGo} />
              <TextLink href={`/runs?${new URLSearchParams({ q, archived: "true" }).toString()}`}>
                {counted(total, "run")} in the list
              </TextLink>
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

const RunLinks = ({ onGo, runs }: { readonly runs: ReadonlyArray<Run>; readonly onGo: () => void }) => (
  <ul>
    {runs.map((run) => (
      <li key={run.id} className="flex items-center gap-2 border-b border-line py-1.5 last:border-0">
        <Link href={`/runs/${run.id}`} className="flex min-w-0 flex-1 text-accent" onClick={onGo}>
          <NameText text={runFacts(run).title} />
        </Link>
        <span className="font-mono text-[11px] text-muted">{run.id.slice(0, 8)}</span>
        <StatusBadge status={run.status} />
        <Time at={run.createdAt} className="text-muted" />
      </li>
    ))}
  </ul>
)
