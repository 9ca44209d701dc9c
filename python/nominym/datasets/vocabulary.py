"""The vocabularies of the synthetic discharges: diagnoses (with several parents) and procedures (a tree).

Both are composed from one list of body sites, so that a diagnosis and its treatments have the same place in
their taxonomies. Nothing is taken from a published terminology. Codes count depth first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from nominym.meaning import Concepts, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

# System -> region -> "tissue: site, site [part / part]; tissue: site"; the tissue says what can happen there.
BODY: dict[str, dict[str, str]] = {
    "nervous system": {
        "brain": "solid: frontal lobe, temporal lobe, cerebellum [vermis / cerebellar hemisphere], "
        "brain stem [midbrain / pons]; vessel: middle cerebral artery, basilar artery",
        "spinal cord": "solid: cervical cord, thoracic cord, lumbar cord; lining: spinal meninges",
        "peripheral nerves": "nerve: median nerve, ulnar nerve, sciatic nerve, facial nerve, optic nerve",
    },
    "mental functions": {
        "emotion": "mind: mood, anxiety, stress response",
        "cognition": "mind: memory, attention, perception, thinking",
        "behavior": "mind: sleep, eating, impulse control, social contact",
        "substance use": "mind: alcohol use, opioid use, sedative use, tobacco use",
    },
    "eye": {
        "front of eye": "lining: conjunctiva, cornea; solid: lens of eye, iris [ciliary body / pupil margin]",
        "back of eye": "solid: retina [macula / peripheral retina], vitreous body; vessel: retinal vein",
        "eyelid and orbit": "skin: upper lid, lower lid; gland: tear gland; hollow: tear duct; bone: orbit",
    },
    "ear": {
        "outer ear": "skin: auricle; hollow: ear canal",
        "middle ear": "lining: eardrum, tympanic cavity; bone: mastoid bone; hollow: auditory tube",
        "inner ear": "solid: cochlea, vestibular organ; nerve: auditory nerve",
    },
    "circulatory system": {
        "heart": "solid: heart muscle [left ventricle / right ventricle]; lining: pericardium; "
        "valve: aortic valve, mitral valve, tricuspid valve; vessel: coronary artery",
        "arteries": "vessel: aorta [thoracic aorta / abdominal aorta], carotid artery, femoral artery, "
        "pulmonary artery, renal artery",
        "veins": "vessel: deep leg vein, superficial leg vein, portal vein, superior vena cava",
    },
    "respiratory system": {
        "upper airway": "hollow: nasal cavity, maxillary sinus, frontal sinus; lining: throat, tonsil",
        "lower airway": "hollow: larynx [vocal cord / epiglottis], trachea, main bronchus, lobar bronchus",
        "chest": "solid: lung [upper lung lobe / lower lung lobe]; lining: pleura; muscle: diaphragm",
    },
    "digestive system": {
        "mouth": "lining: gum, palate; muscle: tongue; gland: parotid gland; bone: tooth",
        "upper digestive tract": "hollow: esophagus [upper esophagus / lower esophagus], "
        "stomach [cardia of stomach / antrum of stomach], duodenum",
        "lower digestive tract": "hollow: jejunum, ileum, appendix, colon [ascending colon / sigmoid colon], "
        "rectum, anal canal",
        "abdominal wall": "lining: peritoneum; muscle: groin, belly wall, umbilicus",
    },
    "liver and pancreas": {
        "liver": "solid: left lobe of liver, right lobe of liver; vessel: hepatic vein, hepatic artery",
        "bile tract": "hollow: gallbladder, cystic duct, bile duct [upper bile duct / lower bile duct]",
        "pancreas": "solid: head of pancreas, body of pancreas, tail of pancreas; hollow: pancreatic duct",
    },
    "urinary system": {
        "kidney": "solid: renal cortex, renal medulla [renal papilla / renal tubule]; hollow: renal pelvis",
        "lower urinary tract": "hollow: ureter [upper ureter / lower ureter], urinary bladder "
        "[neck of bladder / dome of bladder], urethra",
    },
    "female reproductive system": {
        "inner female organs": "hollow: uterus [endometrium / myometrium], fallopian tube, cervix; "
        "solid: ovary; lining: pelvic peritoneum",
        "outer female organs": "lining: vagina; skin: vulva; gland: vestibular gland",
        "female breast": "gland: breast lobe; hollow: milk duct; skin: nipple",
    },
    "male reproductive system": {
        "inner male organs": "gland: prostate, seminal vesicle; hollow: deferent duct",
        "outer male organs": "solid: testis; hollow: epididymis; skin: penis, scrotum; vessel: testis vein",
    },
    "childbearing": {
        "pregnancy": "birth: early pregnancy, placenta, amniotic membranes, umbilical cord, twin pregnancy",
        "childbirth": "birth: labor, breech delivery, birth canal, afterbirth stage",
        "time after birth": "birth: breastfeeding, womb recovery; lining: birth wound",
    },
    "skeleton": {
        "skull": "bone: skull vault, upper jaw, lower jaw, cheekbone, nasal bone",
        "trunk bones": "bone: cervical vertebra, thoracic vertebra, lumbar vertebra, rib, breastbone, pelvis",
        "arm bones": "bone: collarbone, humerus [neck of humerus / shaft of humerus], "
        "radius [upper radius / lower radius], ulna, wrist bone, finger bone",
        "leg bones": "bone: femur [neck of femur / shaft of femur], tibia [upper tibia / lower tibia], "
        "kneecap, fibula, heel bone, toe bone",
    },
    "joints and muscles": {
        "arm joints": "joint: shoulder, elbow, wrist, finger joint",
        "leg joints": "joint: hip, knee, ankle, toe joint",
        "spine joints": "joint: neck joint, lumbar joint, sacroiliac joint",
        "muscles": "muscle: shoulder cuff, biceps, thigh muscle, calf muscle, Achilles tendon, back muscle",
    },
    "skin": {
        "skin of head and trunk": "skin: scalp, skin of face, skin of neck, skin of chest, skin of back",
        "skin of limbs": "skin: skin of arm, skin of hand, skin of finger, skin of leg, skin of foot",
    },
    "endocrine system": {
        "neck glands": "gland: thyroid [left thyroid lobe / right thyroid lobe], parathyroid",
        "head glands": "gland: pituitary [anterior pituitary / posterior pituitary], pineal gland",
        "abdominal glands": "gland: adrenal gland [adrenal cortex / adrenal medulla], islet cells",
    },
    "blood and lymph": {
        "blood": "blood: red blood cells, white blood cells, platelets, clotting factors, plasma proteins",
        "blood forming organs": "solid: spleen, bone marrow; gland: thymus",
        "lymph nodes": "solid: neck lymph nodes, armpit lymph nodes, groin lymph nodes",
    },
    "metabolism": {
        "nutrients": "level: glucose, protein, body fat, cholesterol",
        "vitamins": "level: vitamin A, vitamin B12, vitamin C, vitamin D, folate",
        "minerals and water": "level: iron, calcium, potassium, sodium, body water",
    },
}

# Mechanism -> kind of disorder -> its forms: the second axis of the diagnoses.
MECHANISMS: dict[str, dict[str, str]] = {
    "Inflammatory disorder": {"Inflammation": "course", "Allergic reaction": "course"},
    "Infectious disorder": {"Infection": "agent", "Abscess": "spread"},
    "Neoplastic disorder": {"Benign neoplasm": "count", "Malignant neoplasm": "stage"},
    "Traumatic disorder": {"Bruise": "none", "Fracture": "break", "Dislocation": "repeat", "Tear": "extent"},
    "Thermal disorder": {"Burn": "extent", "Frostbite": "extent"},
    "Passage disorder": {"Obstruction": "extent", "Perforation": "spread"},
    "Surface disorder": {"Cyst": "count", "Ulcer": "course"},
    "Inborn disorder": {"Malformation": "grade", "Inborn defect": "grade"},
    "Degenerative disorder": {"Degeneration": "progress", "Scarring": "extent", "Wasting": "progress"},
    "Blood flow disorder": {"Thrombosis": "repeat", "Dilatation": "progress", "Bleeding": "repeat"},
    "Functional disorder": {"Overactivity": "grade", "Underactivity": "progress", "Failure": "course"},
    "Regulation disorder": {"Disturbance": "mental", "Deficiency": "grade", "Excess": "grade"},
}

# Kind of procedure -> its forms.
ACTIONS: dict[str, str] = {
    "Examination": "none", "Imaging": "image", "Biopsy": "needle", "Excision": "way", "Repair": "surgery",
    "Drainage": "needle", "Replacement": "device", "Widening": "device", "Setting": "surgery",
    "Psychotherapy": "talk", "Drug treatment": "drug", "Training": "none", "Monitoring": "look",
    "Transfusion": "drug", "Substitution": "drug", "Lowering": "none",
}  # fmt: skip

# Tissue -> what can befall it | what can be done to it.
TISSUES: dict[str, str] = {
    "hollow": "Inflammation, Infection, Ulcer, Obstruction, Perforation, Bleeding, Benign neoplasm, "
    "Malignant neoplasm, Malformation | Examination, Imaging, Biopsy, Excision, Repair, Widening",
    "solid": "Inflammation, Infection, Abscess, Failure, Scarring, Cyst, Bruise, Benign neoplasm, "
    "Malignant neoplasm | Imaging, Biopsy, Excision, Drainage, Repair",
    "lining": "Inflammation, Infection, Scarring, Bleeding, Ulcer, Tear, Malignant neoplasm"
    " | Examination, Biopsy, Excision, Drainage",
    "gland": "Inflammation, Overactivity, Underactivity, Cyst, Benign neoplasm, Malignant neoplasm, Abscess"
    " | Imaging, Biopsy, Excision, Drainage, Drug treatment",
    "bone": "Fracture, Infection, Degeneration, Malformation, Benign neoplasm, Malignant neoplasm"
    " | Imaging, Biopsy, Setting, Repair, Excision",
    "joint": "Inflammation, Infection, Degeneration, Dislocation, Tear, Bruise"
    " | Examination, Imaging, Drainage, Repair, Replacement",
    "muscle": "Inflammation, Tear, Bruise, Wasting, Abscess | Examination, Imaging, Repair, Training",
    "vessel": "Inflammation, Thrombosis, Obstruction, Dilatation, Tear, Malformation"
    " | Imaging, Repair, Widening, Replacement",
    "valve": "Infection, Degeneration, Obstruction, Failure, Malformation | Imaging, Repair, Replacement",
    "nerve": "Inflammation, Bruise, Degeneration, Tear, Benign neoplasm | Examination, Imaging, Repair",
    "skin": "Inflammation, Infection, Allergic reaction, Ulcer, Burn, Frostbite, Abscess, Benign neoplasm, "
    "Malignant neoplasm | Examination, Biopsy, Excision, Repair, Drainage",
    "mind": "Disturbance, Overactivity, Underactivity, Degeneration"
    " | Examination, Psychotherapy, Drug treatment, Training, Monitoring",
    "birth": "Bleeding, Infection, Failure, Obstruction, Disturbance | Monitoring, Examination, Imaging",
    "blood": "Deficiency, Excess, Disturbance, Inborn defect | Monitoring, Transfusion, Drug treatment",
    "level": "Deficiency, Excess, Disturbance, Inborn defect | Monitoring, Substitution, Lowering",
}

# Forms -> "prefix" or "prefix: suffix, suffix", the suffixed forms below the prefixed one; "none" has none.
FORMS: dict[str, str] = {
    "course": "Acute: with bleeding; Chronic: with scarring; Recurrent",
    "grade": "Mild; Moderate; Severe: with shock",
    "agent": "Bacterial: with sepsis, with resistance; Viral; Fungal",
    "spread": "Confined; Spreading: with sepsis",
    "count": "Single; Multiple: with pressure symptoms",
    "stage": "Early; Advanced: with local invasion; Metastatic: with pain",
    "break": "Closed: with displacement; Open: with displacement, with infection; Stress",
    "repeat": "First; Recurrent: with bleeding",
    "extent": "Partial; Complete: with infection",
    "progress": "Stable; Progressive: with disability",
    "mental": "Transient; Persistent: with crisis, with withdrawal; Stress-related",
    "look": "Routine; Urgent",
    "image": "Ultrasound; X-ray; Tomographic",
    "way": "Open: with graft; Endoscopic",
    "needle": "Open; Needle-guided",
    "surgery": "Open: with implant; Minimally invasive",
    "device": "Primary: with coated device; Revision",
    "talk": "Individual; Group",
    "drug": "Oral; Intravenous: under surveillance",
}


@dataclass(frozen=True)
class Vocabulary:
    """A taxonomy's concepts in code order, with the place of each in the body."""

    concepts: Concepts
    site: NDArray[np.int32]
    """Number of the site by concept, the same in both vocabularies; -1 above the sites."""
    system: NDArray[np.int32]
    """Number of the system by concept, in the order of ``BODY``; -1 outside the systems."""

    @property
    def size(self) -> int:
        """Number of concepts that records can have: the sites and all below."""
        return int((self.site >= 0).sum())

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """Return the taxonomy of the concepts."""
        return Taxonomy.from_concepts(self.concepts)


@lru_cache(maxsize=1)
def diagnoses() -> Vocabulary:
    """Return the diagnoses: a kind of disorder lies below a place of the body and below a mechanism."""
    composer = _Composer("D", "Disorder", {k: form for kinds in MECHANISMS.values() for k, form in kinds.items()})
    axis: dict[str, int] = {}
    for mechanism, kinds in MECHANISMS.items():
        parent = composer.add(mechanism, 0)
        axis |= {kind: composer.add(kind, parent) for kind in kinds}
    befalls = {tissue: both.split(" | ")[0].split(", ") for tissue, both in TISSUES.items()}
    return composer.compose("Disorder of {}", befalls, axis)


@lru_cache(maxsize=1)
def procedures() -> Vocabulary:
    """Return the procedures: a tree over the places of the body."""
    done = {tissue: both.split(" | ")[1].split(", ") for tissue, both in TISSUES.items()}
    return _Composer("P", "Procedure", ACTIONS).compose("Procedure for {}", done, {})


class _Composer:
    """Collects the concepts of one vocabulary, depth first; concepts are numbers until the end."""

    def __init__(self, letter: str, root: str, forms: Mapping[str, str]) -> None:
        self.letter = letter
        self.forms = forms
        self.labels: list[str] = []
        self.links: list[tuple[int, int]] = []
        self.places: list[tuple[int, int]] = []
        self.site = self.system = -1
        self.add(root)

    def add(self, label: str, *parents: int) -> int:
        number = len(self.labels)
        self.labels.append(label)
        self.links.extend((number, parent) for parent in parents)
        self.places.append((self.site, self.system))
        return number

    def compose(self, wording: str, kinds: Mapping[str, list[str]], axis: Mapping[str, int]) -> Vocabulary:
        number = -1
        for self.system, (system, regions) in enumerate(BODY.items()):
            in_system = self.add(wording.format(system), 0)
            for region, groups in regions.items():
                in_region = self.add(wording.format(region), in_system)
                for tissue, name, parts in _sites(groups):
                    self.site = number = number + 1
                    site = self.add(wording.format(name), in_region)
                    of_site = {kind: self.add_kind(kind, name, site, axis) for kind in kinds[tissue]}
                    # What befalls a part befalls the whole; only the diagnoses have that second axis.
                    upper = of_site if axis else {}
                    for part in parts:
                        in_part = self.add(wording.format(part), site)
                        for kind in kinds[tissue]:
                            self.add_kind(kind, part, in_part, upper)
                self.site = -1
        ids = [f"{self.letter}{number:04}" for number in range(len(self.labels))]
        child, parent = ([ids[number] for number in ends] for ends in zip(*self.links, strict=True))
        labels = dict(zip(ids, self.labels, strict=True))
        site_of, system_of = np.array(self.places, np.int32).T.copy()
        return Vocabulary(Concepts(ids, child, parent, labels, source="nominym.datasets"), site_of, system_of)

    def add_kind(self, kind: str, place: str, parent: int, upper: Mapping[str, int]) -> int:
        label = f"{kind} of {place}"
        number = self.add(label, parent, *([upper[kind]] if upper else []))
        for form in filter(None, FORMS.get(self.forms[kind], "").split("; ")):
            prefix, _, suffixes = form.partition(": ")
            name = f"{prefix} {label[0].lower()}{label[1:]}"
            above = self.add(name, number)
            for suffix in filter(None, suffixes.split(", ")):
                self.add(f"{name} {suffix}", above)
        return number


def _sites(groups: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield tissue, site and the site's parts."""
    for group in groups.split("; "):
        tissue, _, names = group.partition(": ")
        for name in names.split(", "):
            site, _, parts = name.removesuffix("]").partition(" [")
            yield tissue, site, parts.split(" / ") if parts else []
