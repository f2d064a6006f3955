import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { App, preparePage } from "./App.tsx"
import { prepareCalls } from "./client/Client.ts"
import { loadConfig } from "./client/Config.ts"
import "./shell/Theme.ts"
import "./styles.css"
import { Failure } from "./ui/States.tsx"

const container = document.getElementById("root")
if (container === null) throw new Error("the page has no element #root")
const root = createRoot(container)

/** Delay after which further parts are loaded, milliseconds. */
const PREPARE_AFTER_MS = 1_500

const start = () =>
  loadConfig().then(
    (config) => {
      root.render(
        <StrictMode>
          <App config={config} />
        </StrictMode>
      )
      setTimeout(prepareCalls, PREPARE_AFTER_MS)
      setTimeout(() => import("./shell/Printing.ts").catch(() => {}), PREPARE_AFTER_MS)
    },
    (error: unknown) => {
      // The service may be starting: the page retries by itself.
      root.render(<Failure what="The console cannot reach its service" error={error} retry={start} />)
      setTimeout(start, 3_000)
    }
  )

preparePage(window.location.pathname)
void start()
