import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { settingsDocument } from "../src/settings/SettingTexts.ts"

/** Writes the table of all settings to `docs/reference/settings.md`, or to the file given as the argument. */
writeFileSync(
  process.argv[2] ?? fileURLToPath(new URL("../../../docs/reference/settings.md", import.meta.url)),
  settingsDocument()
)
