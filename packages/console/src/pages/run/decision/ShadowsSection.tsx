import { ShadowActs, textAt } from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { callRuns } from "../../../client/Client.ts"
import { Chip, toneText, UserText } from "../../../ui/basics.tsx"
import { Panel } from "../../../ui/kit.tsx"
import { Failure } from "../../../ui/States.tsx"
import { counted, cut, dollars, LINES_LENGTH, percent, whole } from "../../../view/format/Format.ts"
import type { ProposalRow } from "../../../view/run/Decision.ts"
import {
  type RunShadow,
  type ShadowRow,
  type ShadowStance,
  shadowRows,
  shadowStatus
} from "../../../view/run/ShadowRows.ts"
import type { SetRunPage } from "../RunParams.ts"

interface ShadowsSectionProps {
  readonly runId: string
  readonly shadows: ReadonlyArray<RunShadow>
  readonly proposals: ReadonlyArray<ProposalRow>
  readonly set: SetRunPage
}

const decodeActs = Schema.decodeUnknownOption(ShadowActs)

/** What agents would have done that were tried beside a participant. None of it is in the session or its outcome. */
export default function ShadowsSection({ proposals, runId, set, shadows }: ShadowsSectionProps) {
  const artifacts = useQuery({
    queryKey: ["artifacts", runId, "shadows", shadows.length],
    queryFn: ({ signal }) => callRuns((api) => api.runs.artifacts({ params: { id: runId } }), signal)
  })
  const contentOf = (artifactId: string) =>
    Option.getOrUndefined(decodeActs(artifacts.data?.find(({ id }) => id === artifactId)?.inline))
  return (
    <Panel
      title="Shadows"
      note="tried beside a participant; no part of the session or its outcome"
      className="border-dashed"
    >
      {artifacts.isError ? (
        <Failure
          what="The reasons of the shadows cannot be read"
          error={artifacts.error}
          retry={() => void artifacts.refetch()}
        />
      ) : null}
      <div className="flex flex-col divide-y divide-line">
        {shadows.map((one) => (
          <Shadow key={one.fact.shadow} one={one} acts={contentOf(one.artifactId)} proposals={proposals} set={set} />
        ))}
      </div>
    </Panel>
  )
}

interface ShadowProps extends Pick<ShadowsSectionProps, "proposals" | "set"> {
  readonly one: RunShadow
  /** Undefined until it is read, and of a run whose archive does not have it. */
  readonly acts: ShadowActs | undefined
}

const Shadow = ({ acts, one, proposals, set }: ShadowProps) => {
  const { fact, index, spent } = one
  const rows = shadowRows(
    fact,
    proposals,
    acts?.acts.map(({ payload }) => textAt(payload, "reason"))
  )
  const refused = acts?.refused.length ?? 0
  const tokens = acts?.usage.reduce((sum, { totalTokens }) => sum + totalTokens, 0) ?? 0
  return (
    <section aria-label={`Shadow ${fact.shadow}`} className="flex flex-col gap-2 px-3 py-2.5" data-shadow={fact.shadow}>
      <p className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
        <UserText text={fact.agent} className="font-semibold" />
        <span className="text-muted">
          beside <UserText text={fact.as} />
        </span>
        <Chip tone={fact.status === "failed" ? "warn" : "calm"}>{shadowStatus(fact)}</Chip>
        <button type="button" className="num text-accent underline" onClick={() => set({ event: index })}>
          event {index}
        </button>
      </p>
      {acts?.reason === undefined ? null : (
        <p className="text-warn">
          <UserText text={cut(acts.reason, LINES_LENGTH)} />
        </p>
      )}
      {rows.map((row) => (
        <Row key={row.id} row={row} as={fact.as} agent={fact.agent} />
      ))}
      {rows.length === 0 ? <p className="text-muted">Neither of the two has acted on a proposal.</p> : null}
      <p className="num text-[12px] text-muted">
        {spent !== undefined
          ? `${whole(spent.totalTokens)} tokens, ${dollars(spent.costUsd)}, apart from the cost of the run`
          : tokens > 0
            ? `${whole(tokens)} tokens, of no known cost`
            : "no model call on record"}
        {refused === 0 ? "" : `; ${counted(refused, "message")} refused by the rules`}
        {acts === undefined || acts.leftOut === 0 ? "" : `; ${counted(acts.leftOut, "act")} not kept`}
      </p>
    </section>
  )
}

const Row = ({ agent, as, row }: { readonly row: ShadowRow; readonly as: string; readonly agent: string }) => (
  <div className="flex flex-col gap-1">
    <p className="flex flex-wrap items-baseline gap-x-2">
      <UserText text={cut(row.title, LINES_LENGTH)} />
      {row.isOther === undefined ? null : (
        <Chip tone={row.isOther ? "warn" : "calm"}>{row.isOther ? "another vote" : "the same vote"}</Chip>
      )}
    </p>
    <dl className="grid gap-2 sm:grid-cols-2">
      <Side name={as} note="in the session" stance={row.participant} />
      <Side name={agent} note="the shadow" stance={row.shadow} />
    </dl>
  </div>
)

interface SideProps {
  readonly name: string
  readonly note: string
  readonly stance: Pick<ShadowStance, "word" | "tone" | "kind" | "confidence" | "reason"> | undefined
}

const Side = ({ name, note, stance }: SideProps) => (
  <div className="min-w-0 rounded-md bg-sunken px-2.5 py-1.5">
    <dt className="text-[12px] text-muted">
      <UserText text={name} />, {note}
    </dt>
    <dd>
      {stance === undefined ? (
        <span className="text-muted">no act on it</span>
      ) : (
        <>
          <span className={`font-semibold ${toneText[stance.tone]}`}>
            <UserText text={stance.word} />
          </span>
          <span className="text-[12px] text-muted">
            {" "}
            {stance.kind}
            {stance.confidence === undefined ? "" : ` · ${percent(stance.confidence)}`}
          </span>
          {stance.reason === undefined || stance.reason === "" ? null : (
            <UserText text={cut(stance.reason, LINES_LENGTH)} className="block text-soft" />
          )}
        </>
      )}
    </dd>
  </div>
)
