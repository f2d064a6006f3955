import type { IngestHealth } from "@runplane/api"
import type { UseQueryResult } from "@tanstack/react-query"
import { useEffect, useRef } from "react"
import { Facts, Panel, TextLink } from "../../ui/kit.tsx"
import { useRead } from "../../ui/useRead.ts"
import { duration, percent, whole } from "../../view/format/Format.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { bytesText, receivedPerSecond, type Sample, spanInboxState } from "../../view/operations/SpanInbox.ts"
import { Check } from "./Check.tsx"
import { ReadAge } from "./ReadAge.tsx"

interface TelemetryProps {
  readonly ingest: IngestHealth
  /** The read that it is of. */
  readonly ready: Pick<UseQueryResult, "dataUpdatedAt">
}

/** The span inbox of OpenTelemetry: what waits in it, and what arrives. */
export const Telemetry = ({ ingest, ready }: TelemetryProps) => {
  const readAt = ready.dataUpdatedAt
  const { duplicates, lagSeconds, limitBytes, received, rejected, waiting, waitingBytes } = ingest
  const samples = useRef<{ readonly before?: Sample; readonly now: Sample }>({ now: { at: readAt, received } })
  useEffect(() => {
    samples.current = { before: samples.current.now, now: { at: readAt, received } }
  }, [readAt, received])
  const { before, now } = samples.current
  const rate = now.at === readAt ? receivedPerSecond(before, now) : receivedPerSecond(now, { at: readAt, received })
  const state = spanInboxState(ingest)
  const share = Math.min(1, waitingBytes / limitBytes)
  return (
    <Panel
      title="OpenTelemetry"
      actions={
        <>
          <ReadAge read={ready} />
          <TextLink href="/runs?q=runtimeKind%3Aotlp">its runs</TextLink>
        </>
      }
    >
      <Facts
        facts={[
          ["Span inbox", <Check key="inbox" ok={state.ok} text={state.text} />],
          [
            "Waiting",
            <span key="waiting" className="flex flex-wrap items-center gap-x-2">
              <span className="num">
                {whole(waiting)} spans, {bytesText(waitingBytes)} of {bytesText(limitBytes)}
              </span>
              <span
                role="meter"
                aria-label="Share of the span inbox that is used"
                aria-valuemin={0}
                aria-valuemax={100}
                aria-valuenow={Math.round(100 * share)}
                title={percent(share)}
                className="h-1.5 w-24 overflow-hidden rounded-full bg-calm-soft"
              >
                <span
                  className={`block h-full rounded-full ${state.ok ? "bg-accent" : "bg-bad"}`}
                  style={{ width: `${100 * share}%` }}
                />
              </span>
            </span>
          ],
          [
            "Lag",
            <span key="lag" className="num">
              {waiting === 0 ? "none" : duration(lagSeconds * 1_000)}
            </span>
          ],
          [
            "Received",
            <span key="received" className="num">
              {whole(received)}
              {rate === undefined ? "" : `, ${rate < 10 ? Number(rate.toFixed(1)) : whole(rate)} a second`}
            </span>
          ],
          [
            "Rejected",
            <span key="rejected" className={`num ${rejected > 0 ? "font-medium text-warn" : ""}`}>
              {whole(rejected)}
            </span>
          ],
          [
            "Duplicate",
            <span key="duplicate" className="num">
              {whole(duplicates)}
            </span>
          ]
        ]}
      />
      <Sources />
      <p className="px-3 pb-3 text-[12px] text-muted">
        Received, rejected and duplicate spans are counted since this process started.
      </p>
    </Panel>
  )
}

/** What waits of each source. */
const Sources = () => {
  const { data } = useRead(["ingest"], (api) => api.admin.ingest(), { everyMs: LATER_MS })
  if (data === undefined || data.data.length === 0) return null
  return (
    <ul aria-label="Lag by source" className="grid gap-0.5 px-3 pb-2 text-[13px]">
      {data.data.slice(0, MOST_SOURCES).map(({ lagSeconds, source, waiting, waitingBytes }) => (
        <li key={source} className="flex justify-between gap-2">
          <span className="truncate">{source}</span>
          <span className="num">
            {whole(waiting)} spans, {bytesText(waitingBytes)}, {duration(lagSeconds * 1_000)}
          </span>
        </li>
      ))}
      {data.data.length > MOST_SOURCES ? <li>and {whole(data.data.length - MOST_SOURCES)} more sources</li> : null}
    </ul>
  )
}

/** Sources that the page shows, the slowest first. */
const MOST_SOURCES = 8
