import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { Component, type ReactNode, Suspense } from "react"
import { Redirect, Route, Router, Switch } from "wouter"
import { CONSOLE_PATH } from "./client/Base.ts"
import type { Config } from "./client/Config.ts"
import { CallFailed, isPassing } from "./client/Problem.ts"
import { session } from "./client/Session.ts"
import type { NavItem } from "./shell/NavItem.ts"
import { Shell } from "./shell/Shell.tsx"
import { useStore } from "./ui/hooks.ts"
import { lazily } from "./ui/lazily.ts"
import { Empty, Failure, Skeleton } from "./ui/States.tsx"

const SignIn = lazily(() => import("./shell/SignIn.tsx"))

/** The parts of the console, each loaded with its page. */
const parts = {
  overview: () => import("./pages/overview/OverviewPage.tsx"),
  compare: () => import("./pages/compare/ComparePage.tsx"),
  events: () => import("./pages/events/EventsPage.tsx"),
  agents: () => import("./pages/agents/AgentsPage.tsx"),
  policies: () => import("./pages/policies/PoliciesPage.tsx"),
  alerts: () => import("./pages/alerts/AlertsPage.tsx"),
  webhooks: () => import("./pages/webhooks/WebhooksPage.tsx"),
  audit: () => import("./pages/audit/AuditPage.tsx"),
  operations: () => import("./pages/operations/OperationsPage.tsx"),
  runs: () => import("./pages/runs/RunsPage.tsx"),
  review: () => import("./pages/review/ReviewPage.tsx"),
  marks: () => import("./pages/marks/MarksPage.tsx"),
  gates: () => import("./pages/gates/GatesPage.tsx"),
  committee: () => import("./pages/committee/CommitteePage.tsx"),
  stability: () => import("./pages/stability/StabilityPage.tsx"),
  launch: () => import("./pages/launch/LaunchPage.tsx"),
  run: () => import("./pages/run/RunPage.tsx")
}

const OverviewPage = lazily(parts.overview)
const ComparePage = lazily(parts.compare)
const EventsPage = lazily(parts.events)
const AgentsPage = lazily(parts.agents)
const PoliciesPage = lazily(parts.policies)
const AlertsPage = lazily(parts.alerts)
const WebhooksPage = lazily(parts.webhooks)
const AuditPage = lazily(parts.audit)
const OperationsPage = lazily(parts.operations)
const RunsPage = lazily(parts.runs)
const ReviewPage = lazily(parts.review)
const MarksPage = lazily(parts.marks)
const GatesPage = lazily(parts.gates)
const CommitteePage = lazily(parts.committee)
const StabilityPage = lazily(parts.stability)
const LaunchPage = lazily(parts.launch)
const RunPage = lazily(parts.run)

/** Begins to load the page of an address, in parallel with the rest of the first load. */
export const preparePage = (path: string): void => {
  const [first = "", second] = path.slice(CONSOLE_PATH.length).split("/")
  const part =
    first === "runs" && second !== undefined ? parts.run : new Map(Object.entries(parts)).get(first || "overview")
  part?.().catch(() => {
    // The component that shows the page loads it again, and shows the failure.
  })
}

const RETRIES = 4
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000

const passes = (error: unknown) => error instanceof CallFailed && isPassing(error.problem)

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (failures, error) => failures < RETRIES && passes(error),
      // A query without a poll interval is repeated as well until the service is back.
      refetchInterval: ({ state }) => (passes(state.error) ? LONGEST_PAUSE_MS : false),
      retryDelay: (attempt) => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt),
      // `navigator.onLine` knows nothing of a service on this machine.
      networkMode: "always"
    },
    mutations: { networkMode: "always" }
  }
})

// What was read with one key must not be shown to another.
session.subscribe(() => {
  if (!session.get().isRefused) queries.clear()
})

/** The page Launch needs a launch service, which has the page of the inbox. */
const navItems = ({ launcherUrl }: Config): ReadonlyArray<NavItem> => [
  { path: "/overview", title: "Overview", key: "o" },
  { path: "/runs", title: "Runs", key: "r" },
  ...(launcherUrl === undefined
    ? []
    : [
        { path: "/launch", title: "Launch", key: "l" },
        { path: "/inbox", title: "Inbox", key: "i", href: `${launcherUrl}/inbox` }
      ]),
  { path: "/events", title: "Events", key: "e" },
  { path: "/agents", title: "Agents", key: "a" },
  { path: "/committee", title: "Committee", key: "c" },
  { path: "/review", title: "Review", key: "v" },
  { path: "/policies", title: "Policies", key: "p" },
  { path: "/alerts", title: "Alerts", key: "t" },
  { path: "/webhooks", title: "Webhooks", key: "w" },
  { path: "/audit", title: "Audit", key: "u" },
  { path: "/operations", title: "Operations", key: "s" }
]

export const App = ({ config }: { readonly config: Config }) => {
  const { isRefused } = useStore(session)
  if (isRefused) {
    return (
      <Suspense fallback={null}>
        <SignIn />
      </Suspense>
    )
  }
  return (
    <QueryClientProvider client={queries}>
      <Router base={CONSOLE_PATH.replace(/\/$/, "")}>
        <Shell items={navItems(config)}>
          <PageGuard>
            <Suspense fallback={<Skeleton rows={10} height={40} />}>
              <Switch>
                <Route path="/">
                  <Redirect to="/overview" replace />
                </Route>
                <Route path="/overview">
                  <OverviewPage />
                </Route>
                <Route path="/runs">
                  <RunsPage />
                </Route>
                <Route path="/runs/:id">{({ id }) => <RunPage key={id} runId={id} />}</Route>
                {config.launcherUrl === undefined ? null : (
                  <Route path="/launch">
                    <LaunchPage launcherUrl={config.launcherUrl} />
                  </Route>
                )}
                <Route path="/review">
                  <ReviewPage />
                </Route>
                <Route path="/marks">
                  <MarksPage />
                </Route>
                <Route path="/gates/:id?">{({ id }) => <GatesPage gateId={id} />}</Route>
                <Route path="/committee">
                  <CommitteePage />
                </Route>
                <Route path="/stability">
                  <StabilityPage />
                </Route>
                <Route path="/compare">
                  <ComparePage />
                </Route>
                <Route path="/events">
                  <EventsPage />
                </Route>
                <Route path="/agents">
                  <AgentsPage launcherUrl={config.launcherUrl} />
                </Route>
                <Route path="/policies">
                  <PoliciesPage launcherUrl={config.launcherUrl} />
                </Route>
                <Route path="/alerts">
                  <AlertsPage />
                </Route>
                <Route path="/webhooks">
                  <WebhooksPage />
                </Route>
                <Route path="/audit">
                  <AuditPage />
                </Route>
                <Route path="/operations">
                  <OperationsPage />
                </Route>
                <Route>
                  <Empty isPage title="Page not found">
                    <a className="text-accent underline" href={CONSOLE_PATH}>
                      Go to the overview
                    </a>
                  </Empty>
                </Route>
              </Switch>
            </Suspense>
          </PageGuard>
        </Shell>
      </Router>
    </QueryClientProvider>
  )
}

/** Shows the error of a page in its area; the navigation keeps working. */
class PageGuard extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state = { error: undefined as unknown }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    const shown = new CallFailed({
      status: 0,
      code: "PAGE_FAULT",
      messages: [error instanceof Error ? error.message : String(error)],
      requestId: "",
      metadata: undefined
    })
    return <Failure isPage what="This page failed" error={shown} retry={() => this.setState({ error: undefined })} />
  }
}
