import { Download } from "lucide-react"

interface SaveButtonsProps {
  readonly busy: boolean
  readonly title?: string
  readonly onSave: (form: "csv" | "jsonl") => void
}

/** Saves a list as a file, in one of two forms. */
export const SaveButtons = ({ busy, onSave, title }: SaveButtonsProps) =>
  (["csv", "jsonl"] as const).map((form) => (
    <button key={form} type="button" className="btn" disabled={busy} title={title} onClick={() => onSave(form)}>
      <Download size={14} aria-hidden /> {form === "csv" ? "CSV" : "JSON Lines"}
    </button>
  ))
