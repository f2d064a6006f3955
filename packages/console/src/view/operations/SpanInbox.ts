import type { IngestHealth } from "@runplane/api"

/** From here the span inbox is nearly full: beyond its bound exporters are refused. */
const FULL_SHARE = 0.8
/** A span waits for the settle time of its trace, or longer until its agent is known. */
const LONG_LAG_SECONDS = 30

/** The state of the span inbox in words, and whether an operator has to act. */
export const spanInboxState = ({
  lagSeconds,
  limitBytes,
  waitingBytes
}: IngestHealth): { readonly ok: boolean; readonly text: string } => {
  if (waitingBytes >= limitBytes) return { ok: false, text: "full: exporters are refused and retry" }
  if (waitingBytes >= FULL_SHARE * limitBytes) return { ok: false, text: "nearly full" }
  if (lagSeconds > LONG_LAG_SECONDS) return { ok: false, text: "behind: spans wait longer than usual" }
  return { ok: true, text: "spans become runs as they arrive" }
}

/** Bytes as `12.5 MiB`, and small amounts as `3 KiB`. */
export const bytesText = (bytes: number): string =>
  bytes < 1_048_576 ? `${Math.ceil(bytes / 1_024)} KiB` : `${Number((bytes / 1_048_576).toFixed(1))} MiB`

/** A count at a time, Unix milliseconds. */
export interface Sample {
  readonly at: number
  readonly received: number
}

/** Received spans a second between two samples; undefined before the second one, and after a restart. */
export const receivedPerSecond = (before: Sample | undefined, now: Sample): number | undefined =>
  before === undefined || now.at <= before.at || now.received < before.received
    ? undefined
    : ((now.received - before.received) * 1_000) / (now.at - before.at)
