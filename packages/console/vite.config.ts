import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"
import { shrink } from "./build/shrink.ts"
import { withoutProse } from "./build/withoutProse.ts"

export default defineConfig(({ command }) => ({
  // Relative: a proxy may serve the console below any path. The service writes the way to the files into each page.
  base: command === "build" ? "./" : "/console/",
  resolve: {
    // For Reacts that have no such hook of their own.
    alias: [{ find: /^use-sync-external-store\/shim(\/index\.js)?$/, replacement: "react" }]
  },
  plugins: [withoutProse(), react(), tailwindcss(), shrink()],
  build: {
    target: "es2023",
    // Inlined files would be data: addresses, which the Content-Security-Policy of scripts and fonts refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What every page calls the service with is one file: many small ones compress worse. Few pages call the launch
    // service, whose contract is 2 % of a first load.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: "client", test: /\/console\/src\/client\/(?!Launcher)/, minShareCount: 3 }] }
      }
    },
    reportCompressedSize: false
  }
}))
