import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { Router } from "wouter"
import { EXPORTED_RUN } from "./client/Offline.ts"
import RunPage from "./pages/run/RunPage.tsx"
import "./shell/Printing.ts"
import "./shell/Theme.ts"
import "./styles.css"
import { exactTime } from "./view/format/Format.ts"
import { answerOf, type OfflineRun } from "./view/offline/OfflineAnswers.ts"

// A file of its own (vite.config.ts): the console with one exported run in it, without a service.

interface Content {
  readonly record: OfflineRun["run"]
  readonly bundle: OfflineRun
}

// The export wrote it (view/offline/OfflinePage.ts); the client decodes the parts that it reads.
const isContent = (value: unknown): value is Content =>
  typeof value === "object" && value !== null && "record" in value && "bundle" in value

const content: unknown = JSON.parse(document.getElementById(EXPORTED_RUN)?.textContent ?? "null")
const exported = isContent(content) ? { ...content.bundle, run: content.record } : undefined

/** Keeps a stream of an unfinished run open, as the service does. */
const openEnd = (body: string): ReadableStream<Uint8Array> =>
  new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(body)) })

if (exported !== undefined) {
  window.fetch = async (input, init) => {
    const address = new URL(input instanceof Request ? input.url : input, window.location.href)
    const { body, contentType, status } = answerOf(exported, init?.method ?? "GET", address)
    const headers = { "content-type": contentType }
    return new Response(contentType === "text/event-stream" ? openEnd(body) : body, { status, headers })
  }
}

const queries = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: Number.POSITIVE_INFINITY, networkMode: "always" } }
})

/** Links lead to pages of the service, which is not there. */
const nowhere = (): [string, () => void] => ["/", () => {}]

const container = document.getElementById("root")
if (container !== null)
  createRoot(container).render(
    exported === undefined ? (
      <p className="p-4">This file has no exported run. Export a run from its page in the console.</p>
    ) : (
      <StrictMode>
        <QueryClientProvider client={queries}>
          <Router hook={nowhere}>
            <div className="flex h-dvh flex-col">
              <p
                role="note"
                className="no-print shrink-0 border-b border-line bg-sunken px-4 py-1.5 text-[12px] text-soft"
              >
                Exported {exactTime(Date.parse(exported.exportedAt))}. This file is read-only and needs no service.
              </p>
              <main className="min-h-0 flex-1">
                <RunPage runId={exported.run.id} />
              </main>
            </div>
          </Router>
        </QueryClientProvider>
      </StrictMode>
    )
  )
