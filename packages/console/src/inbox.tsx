import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { Router } from "wouter"
import { INBOX_PATH } from "./client/Inbox.ts"
import { CallFailed, isPassing } from "./client/Problem.ts"
import { InboxApp } from "./InboxApp.tsx"
import "./shell/Theme.ts"
import "./styles.css"

// A page of its own (inbox.html): the launch service serves it, with the cookie of a person's sign-in.

const container = document.getElementById("root")
if (container === null) throw new Error("the page has no element #root")

const MOST_RETRIES = 2

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < MOST_RETRIES && error instanceof CallFailed && isPassing(error.problem),
      refetchOnWindowFocus: true
    }
  }
})

createRoot(container).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Router base={INBOX_PATH}>
        <InboxApp />
      </Router>
    </QueryClientProvider>
  </StrictMode>
)
