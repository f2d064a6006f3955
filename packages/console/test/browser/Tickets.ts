import type { Page } from "playwright-core"
import { ask, CONTROL_PLANE } from "./Stage.ts"

/** What a browser's EventSource saw of a stream. */
export interface Followed {
  readonly opened: number
  /** Indexes of the events, in their order. */
  readonly indexes: ReadonlyArray<number>
  /** Status in the last snapshot. */
  readonly status: string | undefined
}

/**
 * Follows a stream of the page's own origin to the event of that index, or until the browser gives it up because it is
 * refused. The stream of a run that has ended stays open.
 */
export const followed = (page: Page, path: string, lastIndex: number): Promise<Followed> =>
  page.evaluate(
    ({ last, url }) =>
      new Promise<Followed>((resolve) => {
        const indexes: Array<number> = []
        let opened = 0
        let status: string | undefined
        const source = new EventSource(url)
        source.addEventListener("open", () => {
          opened++
        })
        source.addEventListener("snapshot", ({ data }) => {
          status = JSON.parse(data).run.status
        })
        source.addEventListener("canonical_event", ({ data }) => {
          indexes.push(JSON.parse(data).index)
          if (indexes.at(-1) !== last) return
          source.close()
          resolve({ opened, indexes, status })
        })
        source.addEventListener("error", () => {
          if (source.readyState === EventSource.CLOSED) resolve({ opened, indexes, status })
        })
      }),
    { url: path, last: lastIndex }
  )

/** A ticket for the stream of a run, created with the key. */
export const ticketFor = async (runId: string) => {
  const { body, status } = await ask("POST", `${CONTROL_PLANE}/runs/${runId}/stream-tickets`)
  if (status !== 201) throw new Error(`no ticket: ${status}`)
  return { ticket: String(body.ticket), path: `${body.streamUrl}&afterSeq=0`, expiresAt: Date.parse(body.expiresAt) }
}
