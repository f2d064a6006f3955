import { Chip, Id, UserText } from "../../../ui/basics.tsx"
import { InlineFact } from "../../../ui/InlineFact.tsx"
import { cut, exactTime, fineDuration, whole } from "../../../view/format/Format.ts"
import type { TreeNode } from "../../../view/run/SpanTree.ts"

const ERROR_LENGTH = 400

/** What is known of one span. */
export const SpanDetails = ({ begin, node }: { readonly node: TreeNode; readonly begin: number }) => {
  const { count, isOrphan, ownMs, span, total, totalMs } = node
  return (
    <section
      aria-label="The chosen span"
      className="max-h-[132px] shrink-0 overflow-auto border-t border-line bg-panel px-4 py-2"
      tabIndex={0}
    >
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <UserText text={span.name} className="font-semibold" />
        <Chip>{span.kind}</Chip>
        {span.who === "" || span.who === span.name ? null : <UserText text={span.who} className="text-soft" />}
        {span.isReceived ? <Chip tone="accent">from OpenTelemetry</Chip> : null}
        {span.uncounted === undefined ? null : <Chip tone="warn">tokens not counted: {span.uncounted}</Chip>}
        {isOrphan ? <Chip tone="warn">its parent is unknown</Chip> : null}
      </p>
      {span.error === undefined ? null : (
        <p className="mt-0.5 text-bad">
          <UserText text={span.error === "" ? "failed" : cut(span.error, ERROR_LENGTH)} />
        </p>
      )}
      <dl className="mt-1 flex flex-wrap items-baseline gap-x-5 gap-y-0.5 text-[12px]">
        <InlineFact title="Start">
          <span className="num" title={exactTime(span.start)}>
            +{fineDuration(span.start - begin)}
          </span>
        </InlineFact>
        <InlineFact title="Total">
          <span className="num">{fineDuration(totalMs)}</span>
        </InlineFact>
        <InlineFact title="Own">
          <span className="num">{fineDuration(ownMs)}</span>
        </InlineFact>
        <InlineFact title="Spans below">
          <span className="num">{whole(count - 1)}</span>
        </InlineFact>
        <InlineFact title="Model calls">
          <span className="num">{whole(total.calls)}</span>
        </InlineFact>
        <InlineFact title="Events">
          <span className="num">{whole(span.events)}</span>
        </InlineFact>
        {span.spanId === undefined ? null : (
          <InlineFact title="Span id">
            <Id id={span.spanId} label="span id" edge={8} />
          </InlineFact>
        )}
      </dl>
    </section>
  )
}
