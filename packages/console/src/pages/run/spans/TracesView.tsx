import { isTerminal } from "@runplane/domain"
import { useMemo } from "react"
import { Id } from "../../../ui/basics.tsx"
import { CostText } from "../../../ui/CostText.tsx"
import { InlineFact } from "../../../ui/InlineFact.tsx"
import { Failure, Skeleton } from "../../../ui/States.tsx"
import { costIn, duration, whole } from "../../../view/format/Format.ts"
import { hasRuntime } from "../../../view/run/RunFacts.ts"
import { spansOf } from "../../../view/run/Spans.ts"
import { treeOfSpans } from "../../../view/run/SpanTree.ts"
import type { RunViewProps } from "../useShown.ts"
import { SpanTable } from "./SpanTable.tsx"
import { useReceivedSpans } from "./useReceivedSpans.ts"

const NONE: ReadonlyArray<never> = []

/** The spans of the run as a tree, with time, tokens and cost of each and of all below it. */
export default function TracesView({ page, set, shown }: RunViewProps) {
  const { events, isNow, run, state } = shown
  const received = useReceivedSpans(run, !isTerminal(run.status))
  const spans = received.data?.spans ?? NONE
  const tree = useMemo(
    () => treeOfSpans(spansOf({ run, events, received: spans, isPast: !isNow })),
    [run, events, spans, isNow]
  )
  const isLoading = received.isLoading && !hasRuntime(run)
  const { totals } = state.llm
  return (
    <div className="flex h-full flex-col">
      <dl className="flex flex-wrap items-baseline gap-x-6 gap-y-1 border-b border-line bg-panel px-4 py-2.5">
        <InlineFact title="Trace">
          <Id id={state.trace.traceId ?? run.traceId} label="trace id" edge={8} />
        </InlineFact>
        <InlineFact title="Spans">
          <span className="num" data-spans>
            {whole(tree.count)}
          </span>
        </InlineFact>
        <InlineFact title="Failed">
          <span className={`num ${tree.failed > 0 ? "font-medium text-bad" : ""}`}>{whole(tree.failed)}</span>
        </InlineFact>
        <InlineFact title="From start to end">
          <span className="num">{tree.count === 0 ? "–" : duration(tree.end - tree.start)}</span>
        </InlineFact>
        <InlineFact title="Model calls">
          <span className="num">{whole(totals.callCount)}</span>
        </InlineFact>
        <InlineFact title="Tokens">
          <span className="num">{whole(totals.totalTokens)}</span>
        </InlineFact>
        <InlineFact title="Cost">
          <CostText cost={costIn(totals)} />
        </InlineFact>
      </dl>
      {received.isError ? (
        <Failure what="The spans cannot be read" error={received.error} retry={() => void received.refetch()} />
      ) : null}
      {isLoading ? (
        <Skeleton rows={10} height={30} />
      ) : tree.count === 0 ? (
        <p className="p-4 text-muted">No span yet.</p>
      ) : (
        <SpanTable tree={tree} shown={shown} page={page} set={set} />
      )}
    </div>
  )
}
