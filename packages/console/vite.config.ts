import { fileURLToPath } from "node:url"
import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig, type InlineConfig } from "vite"
import { offline } from "./build/offline.ts"
import { shrink } from "./build/shrink.ts"
import { withoutProse } from "./build/withoutProse.ts"

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** What the console and its offline page have in common. Plugins keep a state, so each build has its own. */
const shared = () =>
  ({
    resolve: {
      // For Reacts that have no such hook of their own.
      alias: [{ find: /^use-sync-external-store\/shim(\/index\.js)?$/, replacement: "react" }]
    },
    plugins: [withoutProse(), react(), tailwindcss()],
    build: {
      target: "es2023",
      // Inlined files would be data: addresses, which the Content-Security-Policy of scripts and fonts refuses.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false
    }
  }) satisfies InlineConfig

export default defineConfig(({ command }) => {
  const { build, plugins, resolve } = shared()
  return {
    // Relative: a proxy may serve the console below any path. The service writes the way to the files into each page.
    base: command === "build" ? "./" : "/console/",
    resolve,
    plugins: [plugins, offline({ ...shared(), root: pathOf("."), base: "./" }, pathOf("src/offline.tsx")), shrink()],
    build: {
      ...build,
      // With what is shipped: scripts/build/programs.mjs reads it.
      license: { fileName: "licenses.json" },
      // What every page calls the service with is one file: many small ones compress worse. Few pages call the launch
      // service, whose contract is 2 % of a first load.
      rolldownOptions: {
        input: { index: pathOf("index.html"), inbox: pathOf("inbox.html") },
        output: {
          codeSplitting: {
            groups: [{ name: "client", test: /\/console\/src\/client\/(?!Launcher|Inbox)/, minShareCount: 3 }]
          }
        }
      }
    }
  }
})
