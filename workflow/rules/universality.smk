# Shi 2024, chapter 7: universality against label efficiency.


include: "universality/pictures.smk"
