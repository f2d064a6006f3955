import { build, type InlineConfig, type Plugin, type Rolldown } from "vite"

/** The name of the page in the build, and where an exported run goes in it. */
const PAGE = "offline.html"
const RUN_GOES_HERE = "<!--exported-run-->"

/** Text within a script element must not end it. */
const asScript = (code: string): string => code.replace(/<\/script/gi, "<\\/script")

const pageOf = (script: string, style: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Runplane</title>
<style>${style}</style>
</head>
<body>
<div id="root"></div>
${RUN_GOES_HERE}
<script type="module">${asScript(script)}</script>
</body>
</html>
`

/**
 * Adds the page that shows an exported run without a service: the console with all its views in one file, which the
 * export of a run completes (`src/view/offline/OfflinePage.ts`). It loads nothing, so its fonts are those of the
 * system.
 */
export const offline = (config: InlineConfig, entry: string): Plugin => ({
  name: "runplane:offline",
  apply: "build",
  async generateBundle() {
    const built = await build({
      ...config,
      configFile: false,
      logLevel: "warn",
      build: {
        ...config.build,
        write: false,
        rolldownOptions: { input: entry, output: { codeSplitting: false } }
      }
    })
    const outputs = [built].flat().flatMap((one) => ("output" in one ? one.output : []))
    const text = ({ source }: Rolldown.OutputAsset) => (typeof source === "string" ? source : "")
    const scripts = outputs.flatMap((output) => (output.type === "chunk" ? [output.code] : []))
    const styles = outputs.flatMap((output) =>
      output.type === "asset" && output.fileName.endsWith(".css") ? [text(output)] : []
    )
    const [script, ...others] = scripts
    if (script === undefined || others.length > 0) throw new Error(`${PAGE} needs one script, not ${scripts.length}`)
    const style = styles.join("\n").replace(/@font-face\s*\{[^}]*\}/g, "")
    this.emitFile({ type: "asset", fileName: PAGE, source: pageOf(script, style) })
  }
})
